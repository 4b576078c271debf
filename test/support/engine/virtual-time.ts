import type { Clock, MonotonicClock, Randomness, Timer, Timers } from '../../../libs/core/src/ports.js';

/** Read 100,000 times in a row by a generator that waits for the next millisecond; a global is slow to find in jest. */
const { floor } = Math;

/**
 * One host's wall clock, monotonic clock, timers and randomness under a test's control. Several hosts may share the time
 * that passes, each with a wall clock of its own.
 */
export class VirtualTime implements Timers, TimerOwner {
  isPaused = false;
  isStopped = false;

  private suspendedAtMs: number | undefined;
  /** For how long the monotonic clock has stood still. */
  private suspendedMs = 0;
  /** Added to the elapsed time to make the wall clock. */
  private offset: number;

  readonly clock: Clock = { now: () => this.wall, refresh: () => this.wall };
  readonly monotonic: MonotonicClock = { now: () => this.monotonicMs };
  readonly randomness: Randomness = {
    fraction: () => this.fraction(),
    token: () => `token-${this.seedGiven}-${Math.floor(this.fraction() * 2 ** 48)}-${this.tokens++}`,
  };
  readonly timers: Timers = this;

  private seed: number;
  private tokens = 0;

  /** @param seedGiven hosts with one seed make the same random choices, tokens among them */
  constructor(
    wall: number | string,
    private seedGiven = 1,
    private readonly timeline = new VirtualTimeline(),
  ) {
    this.seed = seedGiven;
    this.offset = 0;
    this.setWall(wall);
  }

  /** Another host at the same moment; by default its wall clock reads the same, and its random choices are its own. */
  another(wall: number | string = this.wall, seed = 1_000_000 + this.timeline.nextNumber()): VirtualTime {
    return new VirtualTime(wall, seed, this.timeline);
  }

  get wall(): number {
    return floor(this.offset + this.timeline.elapsed);
  }

  get monotonicMs(): number {
    return (this.suspendedAtMs ?? this.timeline.elapsed) - this.suspendedMs;
  }

  /** The timers that wait. */
  get pending(): ReadonlySet<unknown> {
    return this.timeline.pendingOf(this);
  }

  /** Sets the wall clock; time that passes is untouched. */
  setWall(wall: number | string): void {
    this.offset = (typeof wall === 'number' ? wall : Date.parse(wall)) - this.timeline.elapsed;
  }

  /** Steps the wall clock. */
  step(ms: number): void {
    this.offset += ms;
  }

  /** Lets time pass without firing a timer, as when the event loop is blocked or the process is stopped. */
  freeze(ms: number): void {
    this.timeline.elapsed += ms;
  }

  /** The host is suspended: nothing of it runs, and its monotonic clock and timers stand still; the wall clock goes on. */
  suspend(): void {
    this.isPaused = true;
    this.suspendedAtMs = this.timeline.elapsed;
  }

  /** Ends a pause, or a suspension. */
  wake(): void {
    this.isPaused = false;
    if (this.suspendedAtMs === undefined) return;
    const ms = this.timeline.elapsed - this.suspendedAtMs;
    this.suspendedAtMs = undefined;
    this.suspendedMs += ms;
    this.timeline.delay(this, ms);
  }

  setTimer(callback: () => void, delayMs: number): Timer {
    return this.timeline.setTimer(this, callback, delayMs);
  }

  /** Lets time pass: timers fire in order, and what they start gets its turn. */
  advance(ms: number): Promise<void> {
    return this.timeline.advance(ms);
  }

  /** Makes random choices of its own from now on, as a copy of a process does. */
  reseed(seed: number): void {
    this.seedGiven = seed;
    this.seed = seed;
  }

  /** A small linear congruential generator: a seed replays. */
  private fraction(): number {
    this.seed = (this.seed * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return this.seed / 2 ** 32;
  }
}

/** Whose timers these are: while paused they wait, once stopped they never fire. */
interface TimerOwner {
  readonly isPaused: boolean;
  readonly isStopped: boolean;
}

interface Pending {
  at: number;
  readonly order: number;
  readonly owner: TimerOwner;
  readonly callback: () => void;
}

/** Time that passes for everybody who shares it, and the timers that wait for it. Nothing moves by itself. */
class VirtualTimeline {
  elapsed = 0;
  private order = 0;
  private readonly pending = new Set<Pending>();

  /** Different at every call. */
  nextNumber(): number {
    return this.order++;
  }

  setTimer(owner: TimerOwner, callback: () => void, delayMs: number): Timer {
    const timer: Pending = { at: this.elapsed + Math.max(0, delayMs), order: this.nextNumber(), owner, callback };
    this.pending.add(timer);
    return { cancel: () => void this.pending.delete(timer) };
  }

  /** The timers of an owner that wait. */
  pendingOf(owner: TimerOwner): ReadonlySet<unknown> {
    return new Set([...this.pending].filter((each) => each.owner === owner));
  }

  /** All timers of an owner fire so much later. */
  delay(owner: TimerOwner, ms: number): void {
    for (const each of this.pending) if (each.owner === owner) each.at += ms;
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
    this.elapsed = Math.max(this.elapsed, end);
    await settle();
  }

  private next(end: number): Pending | undefined {
    let first: Pending | undefined;
    for (const each of this.pending) {
      if (each.owner.isStopped) this.pending.delete(each);
      else if (each.at > end || each.owner.isPaused) continue;
      else if (first === undefined || each.at < first.at || (each.at === first.at && each.order < first.order)) {
        first = each;
      }
    }
    return first;
  }
}

/** Lets everything that only waits for promises run: a turn of the real event loop ends when none is left. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
