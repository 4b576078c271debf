/**
 * Says every half minute in which nothing else is printed how far the run is and what it waits for. Jest loads
 * reporters without transforming them, so this is JavaScript.
 */
const SILENCE_MS = 30_000;

module.exports = class ProgressReporter {
  #running = new Map();
  #done = 0;
  #total = 0;
  #spoken = performance.now();
  #timer;

  onRunStart({ numTotalTestSuites }) {
    this.#total = numTotalTestSuites;
    this.#timer = setInterval(() => this.#speak(), 1_000);
    this.#timer.unref();
  }

  onTestFileStart({ path }) {
    this.#running.set(path, performance.now());
  }

  onTestFileResult({ path }) {
    this.#running.delete(path);
    this.#done += 1;
    this.#spoken = performance.now();
  }

  onRunComplete() {
    clearInterval(this.#timer);
  }

  #speak() {
    const now = performance.now();
    if (now - this.#spoken < SILENCE_MS) return;
    this.#spoken = now;
    const running = [...this.#running].map(
      ([path, began]) => `${path.replace(`${process.cwd()}/`, '')} (${Math.round((now - began) / 1_000)} s)`,
    );
    process.stderr.write(`${this.#done} of ${this.#total} test files done; now ${running.join(', ')}\n`);
  }
};
