import type { CliOutput } from './cli-output.js';
import { showDuration, showNumber } from './text.js';

/** The line is drawn at most once in this time, ms. */
const REDRAW_MS = 200;

/** The characters of the bar. */
const WIDTH = 24;

/** Draws one line on stderr, and again while the work goes on. It draws nothing where stderr is no terminal. */
export class Progress {
  private readonly begunAt = performance.now();
  /** Set to the start, so that work of less than 200 ms draws nothing. */
  private drawnAt = this.begunAt;
  private isDrawn = false;

  constructor(private readonly output: CliOutput) {}

  /**
   * @param share the part that is done, 0 to 1
   * @param text called when the line is drawn
   */
  show(share: number, text: () => string): void {
    const stream = this.output.progressStream;
    const now = performance.now();
    if (stream === undefined || now - this.drawnAt < REDRAW_MS) return;
    this.drawnAt = now;
    this.isDrawn = true;
    const done = Math.round(Math.min(share, 1) * WIDTH);
    const bar = '#'.repeat(done) + '.'.repeat(WIDTH - done);
    stream.write(`\r[${bar}] ${Math.floor(Math.min(share, 1) * 100)} % ${text()}\u001b[K`);
  }

  /** Shows how many of all are done, how many a second, and how long the rest takes. */
  count(done: number, all: number): void {
    this.show(done / all, () => {
      const perSecond = (done * 1_000) / (performance.now() - this.begunAt);
      const left = showDuration(Math.ceil((all - done) / perSecond) * 1_000);
      return `${showNumber(done)} of ${showNumber(all)}, ${showNumber(Math.round(perSecond))}/s, ${left} left`;
    });
  }

  /** Removes the line. */
  end(): void {
    if (this.isDrawn) this.output.progressStream?.write('\r\u001b[K');
    this.isDrawn = false;
  }
}
