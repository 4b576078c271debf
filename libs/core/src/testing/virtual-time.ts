import type { Clock, MonotonicClock, Randomness, Timer, Timers } from '../ports.js';
import { VirtualTimeline, type TimerOwner } from './virtual-timeline.js';

export { settle } from './virtual-timeline.js';

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
