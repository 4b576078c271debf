import { defineCodec, InvalidIdError, MAX_ID } from './id-codec.js';
import { type RadixCodec, radixForms } from './radix-codec.js';

const MAX_ID_TEXT = String(MAX_ID);

const forms = radixForms('decimal', '0-9');

/** Decimal digits: the form for JSON and databases; at most 19, or exactly 19 padded. */
export const decimal: RadixCodec = Object.freeze({
  ...defineCodec({ ...forms.natural, parse: (text) => (isDecimalId(text) ? BigInt(text) : undefined) }),
  padded: defineCodec(forms.padded),
});

/**
 * Reads an ID from a route, a query or a JSON string: ASCII digits only, no sign, no white space, no leading zeros.
 *
 * @throws InvalidIdError when `text` is not the decimal form of an ID from 0 to 2^63 - 1
 */
export function parseDecimal(text: string): bigint {
  return decimal.decode(text);
}

/**
 * Whether `text` is the decimal form of an ID. Computes nothing: `BigInt()` of a million digits would block the event
 * loop for some 90 ms, and texts of equal length compare like their numbers.
 */
function isDecimalId(text: string): boolean {
  return /^(?:0|[1-9]\d{0,18})$/.test(text) && (text.length < MAX_ID_TEXT.length || text <= MAX_ID_TEXT);
}

const LEGAL =
  `a bigint or a decimal string from 0 to ${MAX_ID}, or an integer number up to 2^53 - 1 ` +
  '(a larger number has already lost digits: keep IDs as bigint or string)';

/** An ID as programs hold it: a bigint, its decimal text, or a number that is small enough to be exact. */
export type IdLike = bigint | string | number;

/**
 * Returns the bigint of an ID in any of its usual types.
 *
 * @throws InvalidIdError for negative values, values above 2^63 - 1, fractions, numbers above 2^53 - 1 (they have
 * already lost digits), texts that are not canonical decimal, and every other type
 */
export function toId(value: IdLike): bigint {
  return BigInt(requireIdLike(value));
}

/** The value itself when it is an ID; compares and formats without a bigint made of it. */
function requireIdLike(value: IdLike): IdLike {
  if (typeof value === 'bigint') {
    if (value >= 0n && value <= MAX_ID) return value;
  } else if (typeof value === 'string') {
    if (isDecimalId(value)) return value;
  } else if (Number.isSafeInteger(value) && value >= 0) {
    return value;
  }
  throw new InvalidIdError(typeof value === 'string' ? 'decimal' : 'id', value, LEGAL);
}

/** 2^64 - 1, as a number and as the text that decimals are held against. */
const MAX_UNSIGNED = 18_446_744_073_709_551_615n;
const MAX_UNSIGNED_TEXT = String(MAX_UNSIGNED);

const LEGAL_UNSIGNED = `a bigint or a decimal string from 0 to ${MAX_UNSIGNED}, or an integer number up to 2^53 - 1`;

/**
 * Does what `toId` does, for the IDs of systems that use all 64 bits (Discord's, say): they reach up to 2^64 - 1 and
 * fit an unsigned column only. Raindrop issues none above 2^63 - 1, it only reads them.
 *
 * @throws InvalidIdError for negative values (a signed 64-bit integer is made unsigned by `BigInt.asUintN(64, id)`),
 * values above 2^64 - 1, fractions, numbers above 2^53 - 1, texts that are not canonical decimal, and every other type
 */
export function toUnsignedId(value: IdLike): bigint {
  if (isUnsignedId(value)) return BigInt(value);
  throw new InvalidIdError(typeof value === 'string' ? 'decimal' : 'id', value, LEGAL_UNSIGNED);
}

function isUnsignedId(value: IdLike): boolean {
  if (typeof value === 'bigint') return value >= 0n && value <= MAX_UNSIGNED;
  if (typeof value !== 'string') return Number.isSafeInteger(value) && value >= 0;
  // Nothing is computed before the text is known to be short.
  return /^(?:0|[1-9]\d{0,19})$/.test(value) && (value.length < MAX_UNSIGNED_TEXT.length || value <= MAX_UNSIGNED_TEXT);
}

/**
 * Orders IDs by value, for `Array.prototype.sort`: decimal strings of different lengths too, which `<` does not, and
 * mixed types. Strings stay strings: the longer is the greater, and equal lengths compare as text.
 *
 * `sort` itself never shows `undefined` to a comparator: it moves them to the end.
 * @throws InvalidIdError when one of them is not an ID (see `toId`)
 */
export function compareIds(a: IdLike, b: IdLike): -1 | 0 | 1 {
  const left = requireIdLike(a);
  const right = requireIdLike(b);
  // Bigints and numbers compare exactly with one another.
  return typeof left === 'string' || typeof right === 'string'
    ? compareDecimals(String(left), String(right))
    : order(left < right, left > right);
}

function compareDecimals(a: string, b: string): -1 | 0 | 1 {
  return a.length === b.length ? order(a < b, a > b) : order(a.length < b.length, true);
}

function order(less: boolean, greater: boolean): -1 | 0 | 1 {
  if (less) return -1;
  return greater ? 1 : 0;
}
