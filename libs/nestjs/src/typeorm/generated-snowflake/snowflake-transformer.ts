import type { ValueTransformer } from 'typeorm';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import { fromDatabase, toDatabase, type SnowflakeProperty } from './snowflake-property.js';

/** What a column says about the IDs it wants. */
export interface SnowflakeMark {
  readonly service: string;
  readonly code: string | undefined;
  readonly as: SnowflakeProperty;
}

/** Registered, so that a second copy of this package in one application knows it. */
const MARK = Symbol.for('@raindrop/nestjs:snowflake');

/**
 * Marks a generated column: TypeORM carries a transformer unchanged through abstract bases, single-table inheritance,
 * embeddeds and `EntitySchema`, so no registry is needed. It transforms only while no service is attached; then
 * `ColumnValues` takes over.
 */
export class SnowflakeTransformer implements ValueTransformer {
  readonly [MARK]: SnowflakeMark;

  constructor(mark: SnowflakeMark) {
    this[MARK] = mark;
  }

  from(value: unknown): unknown {
    return fromDatabase(value, this[MARK].as);
  }

  /**
   * A missing ID becomes an SQL expression that refuses to be written: an insert evaluates it, and throws. Throwing here
   * would break `IsNull()`, which asks for undefined, too.
   */
  to(value: unknown): unknown {
    if (value === undefined) return () => this.refuse();
    if (Array.isArray(value)) return value.map((each) => this.to(each));
    if (!isOperator(value)) return toDatabase(value);
    // TypeORM 1 resolves operators itself; 0.3 hands over those inside And() and Or().
    value.transformValue(this);
    return value;
  }

  private refuse(): never {
    throw new SnowflakeNotAssignedError(this[MARK].service, undefined);
  }
}

/** What a generated column's transformer says; undefined for every other column. */
export function markOf(transformer: ValueTransformer | ValueTransformer[] | undefined): SnowflakeMark | undefined {
  return (transformer as { readonly [MARK]?: SnowflakeMark } | undefined)?.[MARK];
}

function isOperator(value: unknown): value is { transformValue(transformer: ValueTransformer): void } {
  return typeof value === 'object' && value !== null && 'transformValue' in value;
}
