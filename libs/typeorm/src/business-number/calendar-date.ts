/** A day of the Gregorian calendar, as digits. */
export interface CalendarDate {
  /** Four digits. */
  readonly year: string;
  /** `01` to `12`. */
  readonly month: string;
  /** `01` to `31`. */
  readonly day: string;
}

/** Making one costs 50 us, using it 1. There are some 600 zones, but their names may be written in any case. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 1_000;

/**
 * The date of a moment in an IANA time zone.
 * @param at from 1970 to 9998
 * @throws RangeError when there is no such zone
 */
export function calendarDate(at: Date, timeZone: string): CalendarDate {
  const parts = formatOf(timeZone).formatToParts(at);
  const digits = (type: 'year' | 'month' | 'day'): string => parts.find((part) => part.type === type)!.value;
  return { year: digits('year'), month: digits('month'), day: digits('day') };
}

/** Whether Intl knows the zone. */
export function isTimeZone(timeZone: unknown): timeZone is string {
  if (typeof timeZone !== 'string') return false;
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      calendar: 'gregory',
      numberingSystem: 'latn',
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    if (formats.size >= MOST_FORMATS) formats.clear();
    formats.set(timeZone, format);
  }
  return format;
}
