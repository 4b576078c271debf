import type { FindOperator, ValueTransformer } from 'typeorm';
import type { Layout } from '@raindrop/core';
import type { IdFunction } from '@raindrop/node/internal';
import { IdForm, type IdProperty } from '@raindrop/core/internal';
import { isSnowflakeRange } from './snowflake-between.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';

/** Converts what TypeORM compares with a column of IDs and reads from it. */
export class IdTransformer implements ValueTransformer {
  constructor(
    readonly form: IdForm,
    /** Undefined for numbers from segments, which hold no time, and while no service is attached. */
    readonly layout?: Layout,
    /** `table.property`. */
    readonly place?: string,
  ) {}

  /** @throws UnsafeSnowflakeError; InvalidIdError */
  to(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.to(each));
    if (isSnowflakeRange(value)) return this.layout === undefined ? value : value.within(this.layout);
    if (!isOperator(value)) return this.form.compare(value, this.place);
    // TypeORM 1 resolves operators itself; 0.3 hands over those of query builders and inside And() and Or().
    value.transformValue(this);
    return value;
  }

  /** @throws UnsafeSnowflakeError */
  from(value: unknown): unknown {
    return this.form.read(value, this.place);
  }
}

function isOperator(value: unknown): value is FindOperator<unknown> {
  return typeof value === 'object' && value !== null && 'transformValue' in value;
}

/** A column's requirements for its IDs. */
export interface SnowflakeMark {
  /** `table.property`, as far as it is known when it is asked. */
  readonly place: () => string;
  readonly service: string;
  readonly code: string | undefined;
  readonly as: IdProperty;
  /** The prefix of a typed text, `order_...`. */
  readonly prefix: string | undefined;
  /** The function of the database that issues the IDs of rows which no application inserts. */
  readonly databaseDefault?: IdFunction | undefined;
  /** Whether the compiler has kept no type of the property. */
  readonly isTypeLost?: boolean;
}

/** Registered, so that a second copy of this package in one application knows it. */
const MARK = Symbol.for('@raindrop/typeorm:snowflake');

/**
 * Marks a generated column: TypeORM carries a transformer unchanged through abstract bases, single-table inheritance,
 * embeddeds and `EntitySchema`, so no registry is needed. While a service is attached, a `GeneratedColumn` is in its
 * place.
 */
export class SnowflakeTransformer extends IdTransformer {
  readonly [MARK]: SnowflakeMark;

  constructor(mark: SnowflakeMark) {
    super(new IdForm(mark.as, mark.prefix));
    this[MARK] = mark;
  }

  /**
   * A missing ID becomes an SQL expression that refuses to be written: an insert evaluates it, and throws. Throwing here
   * would break `IsNull()`, which asks for undefined, too.
   */
  override to(value: unknown): unknown {
    if (value === undefined) return () => this.refuse();
    return super.to(value);
  }

  private refuse(): never {
    const { service, place } = this[MARK];
    throw new SnowflakeNotAssignedError(service, place(), 'unattached');
  }
}

/** The mark in a generated column's transformer; undefined for every other column. */
export function markOf(transformer: ValueTransformer | ValueTransformer[] | undefined): SnowflakeMark | undefined {
  return (transformer as { readonly [MARK]?: SnowflakeMark } | undefined)?.[MARK];
}
