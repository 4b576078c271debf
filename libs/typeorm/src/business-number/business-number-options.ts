import { ConfigurationError } from '@raindrop/core';
import { oneOf, option, OptionReader, type OptionRule, type OptionsOf, readOptions } from '@raindrop/core/internal';
import { BUSINESS_NUMBER_TABLE } from '@raindrop/node/internal';
import { InvalidNumberTemplateError } from './business-number-errors.js';

/** The period after which a series starts anew. */
export type ResetBy = 'never' | 'year' | 'month' | 'day';

/** The longest template, which is also the name of its series. */
const TEMPLATE_LENGTH = 128;

/** Reads a text that a series is told by, or undefined. */
function keyText(length: number): OptionRule<string, string | undefined> {
  return option((reader, name) => {
    const given = reader.value(name);
    if (given === undefined || (typeof given === 'string' && isKeyText(given, length))) return given;
    reader.problem(name, given, `must be ${KEY_TEXT_RULE(length)}`);
    return undefined;
  });
}

/** The options say which sequence a number is of, and when it begins again. */
export const businessNumberOptions = {
  /**
   * The period whose numbers are counted by themselves. The template must show it.
   * @range `never`, `year`, `month`, `day` @defaultValue `never`
   */
  resetBy: oneOf<ResetBy>(['never', 'year', 'month', 'day'], { default: 'never' }),
  /** A tenant or a branch that has numbers of its own. @range 1-64 characters @defaultValue none */
  per: keyText(64),
  /**
   * The IANA zone at whose midnight periods end, and in which the template's date is.
   * @range the name of a zone @defaultValue `UTC`
   */
  timeZone: option<string, string>(zoneOf, { default: 'UTC' }),
  /**
   * The moment whose date and period it is, such as the invoice's own.
   * @range a Date of the years 1970 to 9998 @defaultValue now, by this host's clock
   */
  at: option<Date, Date>(momentOf),
  /**
   * The first number of every period.
   * @range 1 or more, and no more than the template has digits for @defaultValue 1
   */
  start: option<number | bigint, bigint, LastNumber>(startOf, { default: 1 }),
  /**
   * The name under which the series is counted; given, the template may change and the numbers go on.
   * @range 1-128 characters @defaultValue the template itself
   */
  name: keyText(TEMPLATE_LENGTH),
  /** The table of the numbers. @range `table` or `schema.table` @defaultValue `raindrop_business_number` */
  tableName: option<string, string>(
    // What reads the table checks the name.
    (reader, name) => (reader.value(name) ?? BUSINESS_NUMBER_TABLE.defaultName) as string,
    { default: BUSINESS_NUMBER_TABLE.defaultName },
  ),
};

/** The options say which sequence a number is of, and when it begins again. */
export interface BusinessNumberOptions extends Readonly<OptionsOf<typeof businessNumberOptions>> {}

interface LastNumber {
  /** The last number that the template has digits for. */
  readonly last: bigint;
}

/** A number that was asked for, and the row that counts it. */
export interface NumberRequest {
  readonly key: NumberKey;
  readonly start: bigint;
  /** The last number that fits. */
  readonly last: bigint;
  readonly tableName: string;
  textOf(value: bigint): string;
}

/** The tokens that a template needs for each period, so that no two periods have the same numbers. */
const SHOWN: Readonly<Record<ResetBy, readonly DateToken[]>> = {
  never: [],
  year: [],
  month: ['MM'],
  day: ['MM', 'dd'],
};

/** @throws InvalidNumberTemplateError; ConfigurationError with everything else that is wrong */
export function readNumberRequest(template: string, options: BusinessNumberOptions): NumberRequest {
  const parsed = parseTemplate(template);
  const reader = new OptionReader(options);
  const read = readOptions(reader, businessNumberOptions, { last: parsed.last });
  const { resetBy, per = '', timeZone, at, start, name: series = template, tableName } = read;
  checkReset(reader, parsed, resetBy);
  reader.finish();

  const date = calendarDate(at, timeZone);
  if (resetBy !== 'never' && !parsed.shows.has('yyyy')) refuseOtherCentury(at, date.year);
  const { year, month, day } = date;
  const period = { never: '', year, month: `${year}-${month}`, day: `${year}-${month}-${day}` }[resetBy];
  return {
    key: { series, per, period },
    start,
    last: parsed.last,
    tableName,
    textOf: (value) => parsed.format(date, value),
  };
}

function checkReset(reader: OptionReader, { shows }: NumberTemplate, resetBy: ResetBy): void {
  if (resetBy === 'never') return;
  const missing = SHOWN[resetBy].filter((token) => !shows.has(token)).map((token) => `{${token}}`);
  if (!shows.has('yyyy') && !shows.has('yy')) missing.unshift('{yyyy} or {yy}');
  if (missing.length > 0) {
    reader.problem(
      'resetBy',
      resetBy,
      `needs ${missing.join(' and ')} in the template: otherwise numbers would repeat`,
    );
  }
}

/** Two digits tell the years of one century apart. */
function refuseOtherCentury(at: Date, year: string): void {
  if (year.startsWith('20')) return;
  const message = 'with resetBy and {yy} the year must be from 2000 to 2099, or numbers would repeat; use {yyyy}';
  throw new ConfigurationError([{ option: 'at', given: at.toISOString(), message }]);
}

function startOf(reader: OptionReader, name: string, { last }: LastNumber): bigint {
  const given = reader.value(name) ?? 1;
  const isWhole = typeof given === 'bigint' || Number.isSafeInteger(given);
  const start = isWhole ? BigInt(given as bigint | number) : 0n;
  if (start >= 1n && start <= last) return start;
  reader.problem(name, given, `must be an integer or a bigint from 1 to ${last}, the template's largest number`);
  return 1n;
}

function momentOf(reader: OptionReader, name: string): Date {
  const given = reader.value(name) ?? new Date();
  const year = given instanceof Date ? given.getUTCFullYear() : Number.NaN;
  if (year >= 1970 && year <= 9998) return given as Date;
  reader.problem(name, given, 'must be a Date of the years 1970 to 9998');
  return new Date();
}

function zoneOf(reader: OptionReader, name: string): string {
  const given = reader.value(name) ?? 'UTC';
  if (isTimeZone(given)) return given;
  reader.problem(name, given, "must be the IANA name of a time zone, such as 'Europe/Berlin'");
  return 'UTC';
}

/** The identity of one sequence. */
export interface NumberKey {
  readonly series: string;
  /** '' for none. */
  readonly per: string;
  /** '', `2026`, `2026-03` or `2026-03-14`. */
  readonly period: string;
}

/** The parts of a date that a template can show. */
type DateToken = 'yyyy' | 'yy' | 'MM' | 'dd';

/** How a business number looks. */
interface NumberTemplate {
  /** The parts of the date that it shows. */
  readonly shows: ReadonlySet<DateToken>;
  /** The last number that fits. */
  readonly last: bigint;
  format(date: CalendarDate, value: bigint): string;
}

type Part = (date: CalendarDate, value: bigint) => string;

/** The largest value of the table's `bigint`. */
const MAX_VALUE = 2n ** 63n - 1n;

const DATE_PARTS: Readonly<Record<DateToken, Part>> = {
  yyyy: ({ year }) => year,
  yy: ({ year }) => year.slice(2),
  MM: ({ month }) => month,
  dd: ({ day }) => day,
};

/**
 * Reads a template such as `INV-{yyyy}-{seq:6}`.
 *
 * All parts but `{seq}` are as long for one date as for any other, and there is one `{seq}`: two numbers are the same
 * text only when they show the same date and the same value.
 *
 * @throws InvalidNumberTemplateError
 */
export function parseTemplate(template: string): NumberTemplate {
  const refuse = (position: number, reason: string): never => {
    throw new InvalidNumberTemplateError(template, position, reason);
  };
  if (typeof template !== 'string') return refuse(0, 'it is not a string');
  if (!isKeyText(template, TEMPLATE_LENGTH)) {
    refuse(Math.max(0, template.search(NOT_KEPT)), `it must be ${KEY_TEXT_RULE(TEMPLATE_LENGTH)}`);
  }

  const parts: Part[] = [];
  const shows = new Set<DateToken>();
  let digits: number | undefined;
  for (const { index, 0: piece } of template.matchAll(/\{[^{}]*\}|[{}]|[^{}]+/g)) {
    const token = /^\{(.+)\}$/.exec(piece)?.[1];
    const width = /^\{seq(?::([1-9]|1[0-8]))?\}$/.exec(piece);
    if (width !== null) {
      if (digits !== undefined) refuse(index, 'there is a second {seq}');
      const padded = (digits = Number(width[1] ?? 0));
      parts.push((_, value) => String(value).padStart(padded, '0'));
    } else if (isDateToken(token)) {
      shows.add(token);
      parts.push(DATE_PARTS[token]);
    } else {
      if (/[{}]/.test(piece))
        refuse(index, piece.length > 1 ? `${piece.slice(0, 20)} is not a token` : 'a brace is unmatched');
      parts.push(() => piece);
    }
  }
  if (digits === undefined) return refuse(template.length, 'there is no {seq}');
  return {
    shows,
    last: digits === 0 ? MAX_VALUE : 10n ** BigInt(digits) - 1n,
    format: (date, value) => parts.map((part) => part(date, value)).join(''),
  };
}

function isDateToken(token: string | undefined): token is DateToken {
  return token !== undefined && Object.hasOwn(DATE_PARTS, token);
}

/** A day of the Gregorian calendar, as digits. */
interface CalendarDate {
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
function calendarDate(at: Date, timeZone: string): CalendarDate {
  const parts = formatOf(timeZone).formatToParts(at);
  const digits = (type: 'year' | 'month' | 'day'): string => parts.find((part) => part.type === type)!.value;
  return { year: digits('year'), month: digits('month'), day: digits('day') };
}

/** Whether Intl knows the zone. */
function isTimeZone(timeZone: unknown): timeZone is string {
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

/** The texts that {@link isKeyText} accepts, in words. */
const KEY_TEXT_RULE = (length: number): string =>
  `1 to ${length} characters, without control characters, without half surrogate pairs and without spaces at either end`;

/** Characters that not every database keeps. */
const NOT_KEPT = /[\p{Cc}\p{Cs}]/u;

/** Whether every database keeps a text as it is, and tells it from every other: MySQL's texts end before their spaces. */
function isKeyText(text: string, length: number): boolean {
  return text.length > 0 && text.length <= length && text === text.trim() && !NOT_KEPT.test(text);
}
