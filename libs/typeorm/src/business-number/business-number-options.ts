import { ConfigurationError } from '@raindrop/core';
import { OptionReader } from '@raindrop/core/internal';
import { BUSINESS_NUMBER_TABLE } from '@raindrop/node/internal';
import { calendarDate, isTimeZone } from './calendar-date.js';
import { isKeyText, KEY_TEXT_RULE } from './key-text.js';
import type { NumberKey } from './number-key.js';
import { parseTemplate, TEMPLATE_LENGTH, type DateToken, type NumberTemplate } from './number-template.js';

/** The period after which a series starts anew. */
export type ResetBy = 'never' | 'year' | 'month' | 'day';

/** The options say which sequence a number is of, and when it begins again. */
export interface BusinessNumberOptions {
  /** The period whose numbers are counted by themselves. The template must show it. Default `never`. */
  readonly resetBy?: ResetBy;
  /** A tenant or a branch that has numbers of its own: 1 to 64 characters. Default none. */
  readonly per?: string;
  /** The IANA zone at whose midnight periods end, and in which the template's date is. Default `UTC`. */
  readonly timeZone?: string;
  /** The moment whose date and period it is, such as the invoice's own. Default now, by this host's clock. */
  readonly at?: Date;
  /** The first number of every period: 1 or more, and no more than the template has digits for. Default 1. */
  readonly start?: number | bigint;
  /**
   * The name under which the series is counted: 1 to 128 characters. Default the template itself; given, the template
   * may change and the numbers go on.
   */
  readonly name?: string;
  /** `table` or `schema.table`. Default `raindrop_business_number`. */
  readonly tableName?: string;
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

/** What a template has to show for each period, so that no two periods have the same numbers. */
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
  const resetBy = reader.oneOf('resetBy', Object.keys(SHOWN) as ResetBy[], 'never');
  checkReset(reader, parsed, resetBy);
  const series = keyText(reader, 'name', TEMPLATE_LENGTH) ?? template;
  const per = keyText(reader, 'per', 64) ?? '';
  const start = startOf(reader, parsed);
  const at = momentOf(reader);
  const timeZone = zoneOf(reader);
  const tableName = (reader.value('tableName') ?? BUSINESS_NUMBER_TABLE.defaultName) as string;
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
    reader.problem('resetBy', resetBy, `needs ${missing.join(' and ')} in the template: without, numbers would repeat`);
  }
}

/** Two digits tell the years of one century apart. */
function refuseOtherCentury(at: Date, year: string): void {
  if (year.startsWith('20')) return;
  const message = 'with resetBy and {yy} the year must be from 2000 to 2099, or numbers would repeat; take {yyyy}';
  throw new ConfigurationError([{ option: 'at', given: at.toISOString(), message }]);
}

function keyText(reader: OptionReader, option: string, length: number): string | undefined {
  const given = reader.value(option);
  if (given === undefined || (typeof given === 'string' && isKeyText(given, length))) return given;
  reader.problem(option, given, `must be ${KEY_TEXT_RULE(length)}`);
  return undefined;
}

function startOf(reader: OptionReader, { last }: NumberTemplate): bigint {
  const given = reader.value('start') ?? 1;
  const isWhole = typeof given === 'bigint' || Number.isSafeInteger(given);
  const start = isWhole ? BigInt(given as bigint | number) : 0n;
  if (start >= 1n && start <= last) return start;
  reader.problem(
    'start',
    given,
    `must be an integer or a bigint from 1 to ${last}, which is what the template has digits for`,
  );
  return 1n;
}

function momentOf(reader: OptionReader): Date {
  const given = reader.value('at') ?? new Date();
  const year = given instanceof Date ? given.getUTCFullYear() : Number.NaN;
  if (year >= 1970 && year <= 9998) return given as Date;
  reader.problem('at', given, 'must be a Date of the years 1970 to 9998');
  return new Date();
}

function zoneOf(reader: OptionReader): string {
  const given = reader.value('timeZone') ?? 'UTC';
  if (isTimeZone(given)) return given;
  reader.problem('timeZone', given, "must be the IANA name of a time zone, such as 'Europe/Berlin'");
  return 'UTC';
}
