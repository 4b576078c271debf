/** The last moment a JavaScript Date can hold: the year 275760. */
export const MAX_DATE_MS = 8_640_000_000_000_000;

/**
 * Turns moments into ticks, and ticks into moments.
 *
 * A tick counts whole units of Unix time since the unit the epoch lies in: `floor(ms / unit) - floor(epoch / unit)`.
 * It is not `floor((ms - epoch) / unit)`: an epoch in the middle of a unit counts from the start of that unit.
 */
export class Timeline {
  /** The epoch's own tick, counted from 1970. */
  readonly epochTick: number;

  /** The last tick that begins inside a Date's range and is a safe integer. */
  readonly lastTick: number;

  /** @param unitMs length of a tick, a positive integer. @param epochMs the epoch, Unix ms. */
  constructor(
    readonly unitMs: number,
    epochMs: number,
  ) {
    this.epochTick = Math.floor(epochMs / unitMs);
    this.lastTick = Math.min(this.tickAt(MAX_DATE_MS), Number.MAX_SAFE_INTEGER);
  }

  /** Returns the tick of a moment; it is negative before the epoch. */
  tickAt(unixMs: number): number {
    return Math.floor(unixMs / this.unitMs) - this.epochTick;
  }

  /** Returns the Unix ms at which a tick starts. */
  startOf(tick: number): number {
    return (tick + this.epochTick) * this.unitMs;
  }

  /** Returns when a tick starts, as a Date; null when it lies beyond what a Date can hold. */
  dateOf(tick: number): Date | null {
    const ms = this.startOf(tick);
    return ms <= MAX_DATE_MS ? new Date(ms) : null;
  }
}
