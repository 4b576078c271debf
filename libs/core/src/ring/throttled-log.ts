import type { RingPorts } from './ring-ports.js';

/** One line in so long. */
const LOG_EVERY_MS = 1_000;

/** Writes what may happen at any pace to the log: once a second at most. */
export class ThrottledLog {
  private unlogged = 0;
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly ports: Pick<RingPorts, 'monotonic' | 'warn'>) {}

  /** @param line the line for so many that it stands for, this one included */
  tell(line: (count: number) => string): void {
    this.unlogged++;
    const now = this.ports.monotonic.now();
    if (now - this.loggedAt < LOG_EVERY_MS) return;
    this.ports.warn(line(this.unlogged));
    this.loggedAt = now;
    this.unlogged = 0;
  }
}
