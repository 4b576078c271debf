/** The last moment a JavaScript Date can hold: the year 275760. */
export const MAX_DATE_MS = 8_640_000_000_000_000;

export const DAY_MS = 86_400_000;

/** Units from a minute on are granted in blocks of sequences, shorter ones in whole ticks. */
const COARSE_MS = 60_000;

export function isCoarse({ unitMs }: { readonly unitMs: number }): boolean {
  return unitMs >= COARSE_MS;
}

/** Whole days until a layout expires: below 0 from the first moment on, null for one that outlives Date. */
export function daysUntil(expiresAt: Date | null, nowMs: number): number | null {
  return expiresAt === null ? null : Math.floor((expiresAt.getTime() - nowMs) / DAY_MS);
}

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

const HOUR = String.raw`[01]\d|2[0-3]`;
const TIME = String.raw`(${HOUR}):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,3}))?)?`;
const ISO = new RegExp(String.raw`^(\d{4})-(\d\d)-(\d\d)(?:[T ]${TIME}(Z|[+-](?:${HOUR}):?[0-5]\d)?)?$`, 'i');

/**
 * The Unix ms of an epoch given as an ISO string, a Date or Unix ms; undefined when it is none of these.
 *
 * A string without a zone is UTC on every host (JavaScript would read a date with a time as local time), and a day that
 * the calendar does not have is refused (JavaScript would roll 30 February over to March).
 */
export function parseEpoch(given: unknown): number | undefined {
  const ms = given instanceof Date ? given.getTime() : typeof given === 'string' ? parseIso(given.trim()) : given;
  return typeof ms === 'number' && Number.isInteger(ms) && Math.abs(ms) <= MAX_DATE_MS ? ms : undefined;
}

function parseIso(text: string): number | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', zone] = match;
  const midnight = new Date(0);
  midnight.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (midnight.getUTCMonth() !== Number(month) - 1) return undefined;
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  return midnight.getTime() + seconds * 1_000 + Number(fraction.padEnd(3, '0')) - zoneOffsetMs(zone);
}

function zoneOffsetMs(zone: string | undefined): number {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))) * 60_000;
}

/** The length of one tick, by name. */
export type TimeUnit = 'millisecond' | 'second' | 'minute' | 'hour' | 'day';

/** The values that the design fixes for each unit. */
export interface TimeUnitRule {
  /** The number of the unit in the Go original's options. */
  readonly number: number;
  /** The length of a tick, ms. */
  readonly ms: number;
  readonly minTimestampBits: number;
  readonly maxTimestampBits: number;
  /** Ticks of a minute and longer are too long to wait for: sequences are granted in blocks and never borrowed. */
  readonly coarse: boolean;
}

/** The rules of every unit. */
export const TIME_UNITS: Readonly<Record<TimeUnit, TimeUnitRule>> = {
  millisecond: { number: 1, ms: 1, minTimestampBits: 41, maxTimestampBits: 55, coarse: false },
  second: { number: 2, ms: 1_000, minTimestampBits: 31, maxTimestampBits: 55, coarse: false },
  minute: { number: 3, ms: 60_000, minTimestampBits: 25, maxTimestampBits: 50, coarse: true },
  hour: { number: 4, ms: 3_600_000, minTimestampBits: 19, maxTimestampBits: 45, coarse: true },
  day: { number: 5, ms: 86_400_000, minTimestampBits: 15, maxTimestampBits: 40, coarse: true },
};

/** Finds a unit by its name, in upper or lower case, or by its number in the Go original. */
export function findTimeUnit(given: unknown): TimeUnit | undefined {
  const names = Object.keys(TIME_UNITS) as TimeUnit[];
  return names.find(
    (name) => TIME_UNITS[name].number === given || (typeof given === 'string' && given.toLowerCase() === name),
  );
}
