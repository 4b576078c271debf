import { ValidateBy } from 'class-validator';

/** A date, or a date and a time with or without a zone. Of the rest of ISO 8601 `Date.parse` reads half, each its own. */
const FORM = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** @returns Unix ms, UTC unless the text names a zone; undefined for a text that is no moment */
export function readMoment(text: string): number | undefined {
  const [, date, time, , , zone] = FORM.exec(text) ?? [];
  if (date === undefined || !isDay(date)) return undefined;
  const ms = Date.parse(time === undefined || zone !== undefined ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** The 30th of February is not: `Date.parse` may take it for the 2nd of March. */
function isDay(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

/** Checks a text that {@link readMoment} reads. */
export function IsMoment(): PropertyDecorator {
  const message = '$property must be an ISO 8601 date or time, such as 2026-11-21T08:15:30Z';
  const validate = (value: unknown): boolean => typeof value === 'string' && readMoment(value) !== undefined;
  return ValidateBy({ name: 'isMoment', validator: { validate } }, { message });
}
