/** The length of one tick, by name. */
export type TimeUnit = 'millisecond' | 'second' | 'minute' | 'hour' | 'day';

/** The values that the design fixes for each unit. */
export interface TimeUnitRule {
  /** The original's number for the unit. */
  readonly number: number;
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

/** Finds a unit by its name, in any case, or by the original's number. */
export function findTimeUnit(given: unknown): TimeUnit | undefined {
  const names = Object.keys(TIME_UNITS) as TimeUnit[];
  return names.find(
    (name) => TIME_UNITS[name].number === given || (typeof given === 'string' && given.toLowerCase() === name),
  );
}
