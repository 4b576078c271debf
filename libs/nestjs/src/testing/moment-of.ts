import { ConfigurationError } from '@raindrop/core';
import { OptionReader } from '@raindrop/core/internal';

/** A time of day without a zone would be another moment on another machine. */
const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/i;

/** The last moment that a Date can hold, Unix ms. */
const MAX_DATE_MS = 8.64e15;

/**
 * The Unix ms of a moment as users write it.
 * @param option what it is called in the error
 * @throws ConfigurationError when it is none
 */
export function momentOf(option: string, given: Date | string | number): number {
  const ms = unixMsOf(given);
  if (Number.isInteger(ms) && Math.abs(ms) <= MAX_DATE_MS) return ms;
  const reader = new OptionReader({});
  reader.problem(option, given, `must be a Date, Unix ms, '2026-01-01', or '2026-01-01T12:00:00Z' with its zone`);
  throw new ConfigurationError(reader.problems);
}

function unixMsOf(given: Date | string | number): number {
  if (typeof given === 'number') return given;
  if (given instanceof Date) return given.getTime();
  return ISO.test(given) ? Date.parse(given) : Number.NaN;
}
