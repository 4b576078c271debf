import { UnsafeSnowflakeError } from './snowflake-errors.js';

/** What a property holds: decimal text, a number (exact up to 2^53 - 1 only) or a bigint. */
export type SnowflakeProperty = 'string' | 'number' | 'bigint';

export type SnowflakeValue = string | number | bigint;

/** @throws UnsafeSnowflakeError when a number cannot hold the ID */
export function toProperty(id: bigint, as: SnowflakeProperty, column?: string): SnowflakeValue {
  if (as === 'bigint') return id;
  if (as === 'string') return id.toString();
  if (id > Number.MAX_SAFE_INTEGER) throw new UnsafeSnowflakeError(column, id.toString(), 'source');
  return Number(id);
}

/**
 * A database value as the property holds it. Whatever a driver makes of a `bigint` column is taken: text, number, bigint.
 * @throws UnsafeSnowflakeError for a number that has lost digits, or what does not fit the property
 */
export function fromDatabase(value: unknown, as: SnowflakeProperty, column?: string): unknown {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new UnsafeSnowflakeError(column, value, 'database');
  }
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return value;
  if (as === 'string') return String(value);
  if (as === 'number') {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
  } else if (typeof value !== 'string' || /^-?\d+$/.test(value)) return BigInt(value);
  throw new UnsafeSnowflakeError(column, String(value), 'database');
}

/**
 * A property's value as it is bound: decimal text, which is exact on every driver and can be logged as JSON. Also called
 * for the values of find conditions; what is no ID (find operators, SQL expressions, null) passes.
 * @throws UnsafeSnowflakeError for a number that has lost digits
 */
export function toDatabase(value: unknown, column?: string): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'number') return value;
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return String(value);
  throw new UnsafeSnowflakeError(column, value, 'application');
}
