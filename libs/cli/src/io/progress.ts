import type { CliOutput } from './cli-output.js';

const REDRAW_MS = 200;
const WIDTH = 24;

/** One line on stderr that is drawn anew while long work goes on; nothing where stderr is no terminal. */
export class Progress {
  /** Short work shows nothing. */
  private drawnAt = performance.now();
  private isDrawn = false;

  constructor(private readonly output: CliOutput) {}

  /** @param share what is done, 0 to 1 */
  show(share: number, text: string): void {
    const stream = this.output.progressStream;
    const now = performance.now();
    if (stream === undefined || now - this.drawnAt < REDRAW_MS) return;
    this.drawnAt = now;
    this.isDrawn = true;
    const done = Math.round(Math.min(share, 1) * WIDTH);
    const bar = '#'.repeat(done) + '.'.repeat(WIDTH - done);
    stream.write(`\r[${bar}] ${Math.floor(Math.min(share, 1) * 100)} % ${text}\u001b[K`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.isDrawn) this.output.progressStream?.write('\r\u001b[K');
    this.isDrawn = false;
  }
}
