import { median } from 'simple-statistics';

/** The longest turns of the event loop, from one `setImmediate` to the next, second by second. */
export class TurnWatch {
  #longestMs = [];
  #begun = performance.now();
  #isOn = true;

  constructor() {
    this.#watch(this.#begun);
  }

  /** Of all, and of a usual second: on a shared machine every process stands still now and then, whatever it does. */
  stop() {
    this.#isOn = false;
    return { longestMs: Math.max(...this.#longestMs), usualMs: median(this.#longestMs) };
  }

  #watch(since) {
    setImmediate(() => {
      const now = performance.now();
      const second = Math.floor((now - this.#begun) / 1_000);
      this.#longestMs[second] = Math.max(this.#longestMs[second] ?? 0, now - since);
      if (this.#isOn) this.#watch(now);
    });
  }
}

/** Turns that only let a little time go by: what the machine itself adds. */
export async function idleTurns(seconds) {
  const watch = new TurnWatch();
  const begun = performance.now();
  while (performance.now() - begun < seconds * 1_000) {
    const end = performance.now() + 0.1;
    while (performance.now() < end);
    await new Promise(setImmediate);
  }
  return watch.stop();
}
