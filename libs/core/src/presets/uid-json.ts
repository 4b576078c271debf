import type { IdLike } from '../codec/to-id.js';
import type { OptionReader } from '../config/option-reader.js';
import { option, type OptionsOf, resolveOptions } from '../config/option-rules.js';
import { type Layout, parseId } from '../layout/layout.js';

/** The options of `uidJson`. */
export const uidJsonOptions = {
  /**
   * The zone of the timestamp. The default is the same on every host; the original took the zone of its JVM.
   * @range an IANA name, such as `Asia/Shanghai` @defaultValue `UTC`
   */
  timeZone: option<string, Intl.DateTimeFormat | undefined>(readFormat, { default: 'UTC' }),
};

/** The options of `uidJson`. */
export interface UidJsonOptions extends OptionsOf<typeof uidJsonOptions> {}

/**
 * Returns the text that uid-generator's `parseUID` returns, letter for letter:
 * `{"UID":"...","timestamp":"yyyy-MM-dd HH:mm:ss","workerId":"...","sequence":"..."}`. Any layout will do; the form has
 * no place for parts of a second and for a data centre.
 * @throws InvalidIdError when `id` is not an ID; TimestampOverflowError when its time lies beyond what a Date can hold
 * @throws ConfigurationError when an option is wrong
 */
export function uidJson(layout: Layout, id: IdLike, options: UidJsonOptions = {}): string {
  const format = resolveOptions(uidJsonOptions, options).timeZone!;
  const parsed = parseId(layout, id);
  return JSON.stringify({
    UID: String(parsed.id),
    timestamp: dateTimeText(format, parsed.time),
    workerId: String(parsed.workerId),
    sequence: String(parsed.sequence),
  });
}

function readFormat(reader: OptionReader, name: string): Intl.DateTimeFormat | undefined {
  const given = reader.value(name) ?? 'UTC';
  const format = typeof given === 'string' ? formatIn(given) : undefined;
  if (format === undefined) {
    reader.problem(name, given, `must be the IANA name of a time zone, such as 'Asia/Shanghai' or 'UTC'`);
  }
  return format;
}

/** Undefined for a time zone that does not exist. */
function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  const digits = '2-digit';
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: digits,
      day: digits,
      hour: digits,
      minute: digits,
      second: digits,
    });
  } catch {
    return undefined;
  }
}

/** Joins the parts itself: the way in which a locale joins them differs from one Node to the next. */
function dateTimeText(format: Intl.DateTimeFormat, time: Date): string {
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const { year = '', month, day, hour, minute, second } = parts;
  return `${year.padStart(4, '0')}-${month}-${day} ${hour}:${minute}:${second}`;
}
