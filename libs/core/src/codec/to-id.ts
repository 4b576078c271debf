import { isDecimalId } from './decimal.js';
import { InvalidIdError } from './invalid-id-error.js';
import { MAX_ID } from './max-id.js';

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
export function requireIdLike(value: IdLike): IdLike {
  if (typeof value === 'bigint') {
    if (value >= 0n && value <= MAX_ID) return value;
  } else if (typeof value === 'string') {
    if (isDecimalId(value)) return value;
  } else if (Number.isSafeInteger(value) && value >= 0) {
    return value;
  }
  throw new InvalidIdError(typeof value === 'string' ? 'decimal' : 'id', value, LEGAL);
}
