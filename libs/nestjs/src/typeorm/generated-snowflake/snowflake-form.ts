import { decimal, InvalidIdError, parseDecimal, typedId, type TypedIdCodec } from '@raindrop/core';
import { UnsafeSnowflakeError } from './snowflake-errors.js';

/** What a property holds: decimal text, a number (exact up to 2^53 - 1 only) or a bigint. */
export type SnowflakeProperty = 'string' | 'number' | 'bigint';

export type SnowflakeValue = string | number | bigint;

/** Decimal texts that are IDs at first sight: below 10^18. Making a bigint and a text again of one costs 250 ns. */
const SMALL_DECIMAL = /^(?:0|[1-9]\d{0,17})$/;

/** How a property shows IDs that the database keeps as `bigint`: the only place where one becomes the other. */
export class SnowflakeForm {
  private readonly typed: TypedIdCodec | undefined;

  constructor(
    private readonly as: SnowflakeProperty,
    /** Of a typed text: what the database cannot compare. */
    readonly prefix?: string,
  ) {
    this.typed = prefix === undefined ? undefined : typedId(prefix);
  }

  /** @throws UnsafeSnowflakeError when a number cannot hold the ID */
  of(id: bigint, column?: string): SnowflakeValue {
    if (this.typed !== undefined) return this.typed.encode(id);
    if (this.as === 'bigint') return id;
    if (this.as === 'string') return id.toString();
    if (id > Number.MAX_SAFE_INTEGER) throw new UnsafeSnowflakeError(column, id.toString(), 'source');
    return Number(id);
  }

  /**
   * A database value as the property holds it. Whatever a driver makes of a `bigint` column is taken: text, number,
   * bigint; what is no ID (null) passes.
   * @throws UnsafeSnowflakeError for a number that has lost digits, or what does not fit the property
   */
  read(value: unknown, column?: string): unknown {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      throw new UnsafeSnowflakeError(column, value, 'database');
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') return value;
    if (this.typed !== undefined) return this.readTyped(this.typed, value, column);
    if (this.as === 'string') return String(value);
    if (this.as === 'number') {
      const number = Number(value);
      if (Number.isSafeInteger(number)) return number;
    } else if (typeof value !== 'string' || /^-?\d+$/.test(value)) return BigInt(value);
    throw new UnsafeSnowflakeError(column, String(value), 'database');
  }

  /**
   * A property's value as it is bound: decimal text, which is exact on every driver and can be logged as JSON. What is
   * neither text nor number (SQL expressions, null) passes.
   * @throws UnsafeSnowflakeError for a number that is negative, broken, or has lost digits
   * @throws InvalidIdError for every other text: MariaDB would take `12abc` for 12, SQLite keep it as it is
   */
  write(value: unknown, column?: string): unknown {
    if (typeof value === 'bigint') return decimal.encode(value);
    if (typeof value === 'string') {
      if (this.typed === undefined && SMALL_DECIMAL.test(value)) return value;
      return (this.typed ?? decimal).decode(value).toString();
    }
    if (typeof value !== 'number') return value;
    if (Number.isSafeInteger(value) && value >= 0) return String(value);
    throw new UnsafeSnowflakeError(column, value, 'application');
  }

  /**
   * As {@link write}, for conditions. There a typed text may also be decimal: TypeORM 0.3 hands over operators whose
   * values it has replaced already.
   */
  compare(value: unknown, column?: string): unknown {
    if (this.typed !== undefined && typeof value === 'string' && /^\d+$/.test(value))
      return decimal.decode(value).toString();
    return this.write(value, column);
  }

  private readTyped(typed: TypedIdCodec, value: SnowflakeValue, column: string | undefined): string {
    // After an insert TypeORM reads back what it took from the entity.
    if (typeof value === 'string' && value.startsWith(`${typed.prefix}_`)) return typed.encode(typed.decode(value));
    try {
      return typed.encode(typeof value === 'string' ? parseDecimal(value) : BigInt(value));
    } catch (error) {
      if (error instanceof InvalidIdError) throw new UnsafeSnowflakeError(column, String(value), 'database');
      throw error;
    }
  }
}
