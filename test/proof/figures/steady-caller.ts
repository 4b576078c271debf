import { RaindropError } from '@raindrop/core';

/** A call that failed, and when, in monotonic ms. */
export interface FailedCall {
  readonly atMs: number;
  readonly error: unknown;
}

/** Asks for an ID every millisecond, as far as the event loop gets there. */
export class SteadyCaller {
  good = 0;
  readonly failed: FailedCall[] = [];
  /** The longest time between two calls: what this machine had no processor for. */
  longestPauseMs = 0;
  private lastMs = performance.now();
  private readonly timer: NodeJS.Timeout;
  private readonly waiters: (() => void)[] = [];

  constructor(private readonly nextId: () => bigint) {
    this.timer = setInterval(() => this.call(), 1);
  }

  /** When the next call succeeds, monotonic ms. */
  async nextGood(): Promise<number> {
    await new Promise<void>((settle) => this.waiters.push(settle));
    return performance.now();
  }

  /** Failed calls whose error does not say that trying again may help. */
  get improper(): FailedCall[] {
    return this.failed.filter(({ error }) => !(error instanceof RaindropError && error.retryable));
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private call(): void {
    const nowMs = performance.now();
    this.longestPauseMs = Math.max(this.longestPauseMs, nowMs - this.lastMs);
    this.lastMs = nowMs;
    try {
      this.nextId();
      this.good++;
      for (const settle of this.waiters.splice(0)) settle();
    } catch (error) {
      this.failed.push({ atMs: nowMs, error });
    }
  }
}
