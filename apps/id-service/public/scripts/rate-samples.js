/** How fast IDs are issued, from a counter that is looked at now and then. */
export class RateSamples {
  /** @type {{ atMs: number, rate: number }[]} the oldest first */
  samples = [];
  #last;

  /** @param {number} keepMs how far back samples are kept */
  constructor(keepMs) {
    this.keepMs = keepMs;
  }

  /** @param {number} issued the counter; @param {number} atMs any clock that only goes forward */
  add(issued, atMs) {
    const last = this.#last;
    this.#last = { issued, atMs };
    if (last === undefined || atMs <= last.atMs) return;
    // A service that was restarted counts from zero again.
    const more = issued >= last.issued ? issued - last.issued : issued;
    this.samples.push({ atMs, rate: (more * 1_000) / (atMs - last.atMs) });
    this.samples = this.samples.filter((sample) => atMs - sample.atMs <= this.keepMs);
  }

  get now() {
    return this.samples.at(-1)?.rate;
  }

  get highest() {
    return Math.max(0, ...this.samples.map(({ rate }) => rate));
  }
}
