import { InvalidNumberTemplateError } from './business-number-errors.js';
import type { CalendarDate } from './calendar-date.js';
import { isKeyText, KEY_TEXT_RULE, NOT_KEPT } from './key-text.js';

/** The parts of a date that a template can show. */
export type DateToken = 'yyyy' | 'yy' | 'MM' | 'dd';

/** How a business number looks. */
export interface NumberTemplate {
  /** What it shows of the date. */
  readonly shows: ReadonlySet<DateToken>;
  /** The last number that fits. */
  readonly last: bigint;
  format(date: CalendarDate, value: bigint): string;
}

type Part = (date: CalendarDate, value: bigint) => string;

/** What the table's `bigint` can hold. */
const MAX_VALUE = 2n ** 63n - 1n;

/** The longest template, which is also the name of its series. */
export const TEMPLATE_LENGTH = 128;

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
  if (typeof template !== 'string') return refuse(0, 'it is no string');
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
        refuse(index, piece.length > 1 ? `${piece.slice(0, 20)} is no token` : 'a brace stands alone');
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
