import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

/** A timer that came late is made up for, but no more than this: what was not taken in time is for others by then. */
const MAKE_UP_MS = 20;

/** Keeps streams from taking everything: the other users of a code, and of the event loop, get theirs. */
export class StreamPace {
  /** Until when each code has been taken in advance. */
  private readonly takenUntil = new Map<string | undefined, number>();
  private turn: Promise<void> = Promise.resolve();

  /** @param idsPerMs what all streams of a code may take together */
  constructor(
    private readonly idsPerMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Settles when a stream may make so many IDs: then is their share due, and no other stream is served in this turn. */
  async next(code: string | undefined, count: number): Promise<void> {
    const waitMs = this.take(code, count);
    if (waitMs > 0) await sleep(waitMs);
    this.turn = this.turn.then(() => setImmediate());
    await this.turn;
  }

  /** Takes so many in advance. @returns in how many ms they are due */
  take(code: string | undefined, count: number): number {
    const now = this.now();
    for (const [each, until] of this.takenUntil) if (until < now - MAKE_UP_MS) this.takenUntil.delete(each);
    const due = Math.max(this.takenUntil.get(code) ?? now, now - MAKE_UP_MS);
    this.takenUntil.set(code, due + count / this.idsPerMs);
    return Math.max(0, due - now);
  }
}
