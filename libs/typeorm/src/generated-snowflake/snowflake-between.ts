import { Between, FindOperator, type ValueTransformer } from 'typeorm';
import { InvalidPartError, type Layout } from '@raindrop/core';
import { UnresolvedRangeError } from './snowflake-errors.js';

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

  /** The value that TypeORM would compare the column with. */
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
