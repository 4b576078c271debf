import type { Clock, MonotonicClock } from '../time/clock.js';
import type { Randomness } from '../time/randomness.js';
import type { Timer, Timers } from '../time/timers.js';

interface Pending {
  readonly at: number;
  readonly order: number;
  readonly callback: () => void;
}

/** Wall clock, monotonic clock, timers and randomness under a test's control; nothing moves by itself. */
export class VirtualTime implements Timers {
  private elapsed = 0;
  private order = 0;
  private seed: number;
  private readonly pending = new Set<Pending>();

  /** Added to the elapsed time to make the wall clock. */
  private offset: number;

  readonly clock: Clock = { now: () => this.wall, refresh: () => this.wall };
  readonly monotonic: MonotonicClock = { now: () => this.elapsed };
  readonly randomness: Randomness = {
    fraction: () => this.fraction(),
    token: () => `token-${Math.floor(this.fraction() * 2 ** 48)}-${this.order++}`,
  };
  readonly timers: Timers = this;

  constructor(wall: number | string, seed = 1) {
    this.offset = typeof wall === 'number' ? wall : Date.parse(wall);
    this.seed = seed;
  }

  get wall(): number {
    return Math.floor(this.offset + this.elapsed);
  }

  get monotonicMs(): number {
    return this.elapsed;
  }

  /** Sets the wall clock; time that passes is untouched. */
  setWall(wall: number | string): void {
    this.offset = (typeof wall === 'number' ? wall : Date.parse(wall)) - this.elapsed;
  }

  /** Steps the wall clock. */
  step(ms: number): void {
    this.offset += ms;
  }

  /** Lets time pass without firing a timer, as when the event loop is blocked or the process is stopped. */
  freeze(ms: number): void {
    this.elapsed += ms;
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    const timer: Pending = { at: this.elapsed + Math.max(0, delayMs), order: this.order++, callback };
    this.pending.add(timer);
    return { cancel: () => void this.pending.delete(timer) };
  }

  /** Lets time pass: timers fire in order, and what they start gets its turn. */
  async advance(ms: number): Promise<void> {
    const end = this.elapsed + ms;
    await settle();
    for (let next = this.next(end); next !== undefined; next = this.next(end)) {
      this.pending.delete(next);
      this.elapsed = Math.max(this.elapsed, next.at);
      next.callback();
      await settle();
    }
    this.elapsed = end;
    await settle();
  }

  private next(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const each of this.pending) {
      if (each.at > end) continue;
      if (first === undefined || each.at < first.at || (each.at === first.at && each.order < first.order)) first = each;
    }
    return first;
  }

  /** A small linear congruential generator: a seed replays. */
  private fraction(): number {
    this.seed = (this.seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return this.seed / 2 ** 32;
  }
}

/** Lets everything that only waits for promises run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}
