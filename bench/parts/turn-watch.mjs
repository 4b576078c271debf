/**
 * The longest turn of the event loop, from one `setImmediate` to the next: by the clock, and by the processor time that
 * this process took in it, all its threads together. The latter leaves out what others did on the machine meanwhile.
 */
export class TurnWatch {
  #longestMs = 0;
  #longestCpuMs = 0;
  #isOn = true;

  constructor() {
    this.#watch(performance.now(), process.cpuUsage());
  }

  stop() {
    this.#isOn = false;
    return { longestMs: this.#longestMs, longestCpuMs: this.#longestCpuMs };
  }

  #watch(since, cpuSince) {
    setImmediate(() => {
      const [now, cpu] = [performance.now(), process.cpuUsage()];
      this.#longestMs = Math.max(this.#longestMs, now - since);
      const cpuUs = cpu.user - cpuSince.user + cpu.system - cpuSince.system;
      this.#longestCpuMs = Math.max(this.#longestCpuMs, Math.min(cpuUs / 1_000, now - since));
      if (this.#isOn) this.#watch(now, cpu);
    });
  }
}

/** Turns that do nothing but let a little time go by: what the machine itself adds. */
export async function busyTurns(seconds) {
  const watch = new TurnWatch();
  const begun = performance.now();
  while (performance.now() - begun < seconds * 1_000) {
    const end = performance.now() + 0.05;
    while (performance.now() < end);
    await new Promise(setImmediate);
  }
  return watch.stop();
}
