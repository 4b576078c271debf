import { InvalidIdError, MAX_ID } from './id-codec.js';

const MAX_ID_TEXT = String(MAX_ID);

const LEGAL =
  `a bigint or a decimal string from 0 to ${MAX_ID}, or an integer up to 2^53 - 1 (larger numbers ` +
  'have lost digits: keep IDs as bigint or string)';

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

/** Returns the value itself when it is an ID: comparing needs no bigint of it. */
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

/**
 * Tells whether `text` is the decimal form of an ID. Nothing is computed: `BigInt()` of a million digits would block the
 * event loop for some 90 ms. Texts of equal length compare like their numbers.
 */
export function isDecimalId(text: string): boolean {
  return /^(?:0|[1-9]\d{0,18})$/.test(text) && (text.length < MAX_ID_TEXT.length || text <= MAX_ID_TEXT);
}

/** 2^64 - 1, as a number and as the text that decimals are compared with. */
const MAX_UNSIGNED = 18_446_744_073_709_551_615n;
const MAX_UNSIGNED_TEXT = String(MAX_UNSIGNED);

const LEGAL_UNSIGNED = `a bigint or a decimal string from 0 to ${MAX_UNSIGNED}, or an integer up to 2^53 - 1`;

/**
 * Does what `toId` does for the IDs of systems that use all 64 bits, such as Discord: they reach 2^64 - 1 and fit an
 * unsigned column only. Raindrop reads such IDs, and issues none above 2^63 - 1.
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
  // The text is known to be short before anything is computed.
  return /^(?:0|[1-9]\d{0,19})$/.test(value) && (value.length < MAX_UNSIGNED_TEXT.length || value <= MAX_UNSIGNED_TEXT);
}

/**
 * Orders IDs by value, for `Array.prototype.sort`. Decimal strings of different lengths are in order too, which `<` gets
 * wrong, and the types may be mixed. Strings stay strings: the longer is the greater, and equal lengths compare as text.
 *
 * `sort` never calls a comparator with `undefined`: it moves these elements to the end.
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
