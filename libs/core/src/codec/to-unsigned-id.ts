import { InvalidIdError } from './invalid-id-error.js';
import type { IdLike } from './to-id.js';

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
