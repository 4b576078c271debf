import { Between, FindOperator, type ValueTransformer } from 'typeorm';
import { decimal, InvalidIdError, InvalidPartError, type Layout, typedId, type TypedIdCodec } from '@raindrop/core';
import { UnresolvedRangeError, UnsafeSnowflakeError } from './snowflake-errors.js';

/** The form in which a property holds an ID: decimal text, a number (exact up to 2^53 - 1 only) or a bigint. */
export type SnowflakeProperty = 'string' | 'number' | 'bigint';

export type SnowflakeValue = string | number | bigint;

const DIGIT_0 = 48;
const DIGIT_9 = 57;

/** How a property shows IDs that the database keeps as `bigint`: the only place where one becomes the other. */
export class SnowflakeForm {
  /** Whether properties hold the very text that the database is given. */
  readonly isDecimalText: boolean;
  private readonly typed: TypedIdCodec | undefined;

  constructor(
    private readonly as: SnowflakeProperty,
    /** Of typed IDs, which the database cannot compare as they are. */
    readonly prefix?: string,
  ) {
    this.typed = prefix === undefined ? undefined : typedId(prefix);
    this.isDecimalText = as === 'string' && this.typed === undefined;
  }

  /** @throws UnsafeSnowflakeError when a number cannot hold the ID */
  of(id: bigint, column?: string): SnowflakeValue {
    if (this.isDecimalText) return id.toString();
    if (this.typed !== undefined) return this.typed.encode(id);
    if (this.as === 'bigint') return id;
    if (id > Number.MAX_SAFE_INTEGER) throw new UnsafeSnowflakeError(column, id.toString(), 'source');
    return Number(id);
  }

  /**
   * A database value as the property holds it. Drivers return a `bigint` column as text, number or bigint: all three are
   * read. Other values, such as null, are returned as they are.
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
   * A property's value as it is bound: decimal text, which is exact on every driver and can be logged as JSON. Values
   * that are neither text, number nor bigint (SQL expressions, null) are returned as they are.
   * @throws UnsafeSnowflakeError for a number that is negative, broken, or has lost digits
   * @throws InvalidIdError for every other text: MariaDB would take `12abc` for 12, SQLite keep it as it is
   */
  write(value: unknown, column?: string): unknown {
    if (typeof value === 'bigint') return decimal.encode(value);
    if (typeof value === 'string') {
      if (this.isDecimalText && isSmallDecimal(value)) return value;
      return decoded(this.typed ?? decimal, value, column);
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
      return decoded(decimal, value, column);
    return this.write(value, column);
  }

  private readTyped(typed: TypedIdCodec, value: SnowflakeValue, column: string | undefined): string {
    // After an insert TypeORM reads back what it took from the entity.
    if (typeof value === 'string' && value.startsWith(`${typed.prefix}_`)) return typed.encode(typed.decode(value));
    try {
      return typed.encode(typeof value === 'string' ? decimal.decode(value) : BigInt(value));
    } catch (error) {
      if (error instanceof InvalidIdError) throw new UnsafeSnowflakeError(column, String(value), 'database');
      throw error;
    }
  }
}

/** @throws InvalidIdError, which names the column */
function decoded(codec: Pick<TypedIdCodec, 'decode'>, value: string, column: string | undefined): string {
  try {
    return codec.decode(value).toString();
  } catch (error) {
    if (!(error instanceof InvalidIdError)) throw error;
    throw new InvalidIdError(error.codec, value, error.legal, column);
  }
}

/**
 * Whether a text is certainly an ID: 1 to 18 digits without a leading zero. It is called for every inserted row: this
 * loop takes 50 ns, a regular expression 100, and to convert the text to a bigint and back 250.
 */
function isSmallDecimal(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > 18) return false;
  for (let index = 0; index < length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < DIGIT_0 || unit > DIGIT_9) return false;
  }
  return length === 1 || text.charCodeAt(0) !== DIGIT_0;
}

/** The last moment a `Date` can hold, Unix ms. */
const MAX_DATE_MS = 8.64e15;

const RANGE = Symbol.for('@raindrop/typeorm:snowflake-range');

/**
 * Finds rows by the time inside their ID, through the key's own index: wherever a find operator is allowed, on a
 * `@GeneratedSnowflake()` column or a foreign key that holds its IDs.
 *
 *     repository.findBy({ id: SnowflakeBetween(monday, friday) })
 *     queryBuilder.andWhere({ id: SnowflakeBetween(monday, friday) })
 *
 * Both ends are included, as in SQL's BETWEEN, and whole ticks: IDs say their time in the layout's unit, so an ID of any
 * moment within the tick of `from`, or of `to`, is found. For a range without its end take the millisecond before it:
 * `SnowflakeBetween(monday, friday.getTime() - 1)`. Times outside the layout's life are clamped to it. IDs are issued up
 * to `maxAheadMs` ahead of the clock under load.
 *
 * @param from a Date or Unix ms
 * @param to a Date or Unix ms; before `from` nothing is found
 * @throws InvalidPartError for what is no date; UnresolvedRangeError, when the query is built, on any other column
 */
export function SnowflakeBetween<Property = string>(from: Date | number, to: Date | number): FindOperator<Property> {
  return new SnowflakeRange(momentOf('from', from), momentOf('to', to)) as unknown as FindOperator<Property>;
}

/** Two moments, which a column's layout turns into IDs when the query is built. */
class SnowflakeRange extends FindOperator<unknown> {
  readonly [RANGE] = true;
  private resolved: readonly [string, string] | undefined;

  constructor(
    private readonly fromMs: number,
    private readonly toMs: number,
  ) {
    super('between', [fromMs, toMs], true, true);
  }

  /** What TypeORM would compare the column with. */
  override get value(): unknown {
    if (this.resolved === undefined) throw new UnresolvedRangeError();
    return this.resolved;
  }

  /** TypeORM asks for this, with the column's transformer. */
  override transformValue(transformer: ValueTransformer): void {
    const between = transformer.to(this) as FindOperator<unknown>;
    this.resolved = between === this ? undefined : (between.value as [string, string]);
  }

  within(layout: Layout): FindOperator<string> {
    return Between(layout.idFloor(this.fromMs).toString(), layout.idCeil(this.toMs).toString());
  }
}

/** Whether a value is such a range, made by this copy of the package or by another one. */
export function isSnowflakeRange(value: unknown): value is SnowflakeRange {
  return typeof value === 'object' && value !== null && RANGE in value;
}

function momentOf(part: string, given: Date | number): number {
  const ms: unknown = given instanceof Date ? given.getTime() : given;
  if (typeof ms !== 'number' || Number.isNaN(ms))
    throw new InvalidPartError(part, given, MAX_DATE_MS, 'a Date or Unix ms');
  return ms;
}
