import type { ValueTransformer } from 'typeorm';
import { isOperator } from './condition-values.js';
import { isSnowflakeRange } from './snowflake-between.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import { SnowflakeForm, type SnowflakeProperty } from './snowflake-form.js';

/** What a column says about the IDs it wants. */
export interface SnowflakeMark {
  readonly service: string;
  readonly code: string | undefined;
  readonly as: SnowflakeProperty;
  /** Of a typed text, `order_...`. */
  readonly prefix: string | undefined;
  /** Whether nobody knows what the property is declared as. */
  readonly isTypeLost?: boolean;
}

/** Registered, so that a second copy of this package in one application knows it. */
const MARK = Symbol.for('@raindrop/nestjs:snowflake');

/**
 * Marks a generated column: TypeORM carries a transformer unchanged through abstract bases, single-table inheritance,
 * embeddeds and `EntitySchema`, so no registry is needed. It transforms only while no service is attached; then
 * `bindColumns` takes over.
 */
export class SnowflakeTransformer implements ValueTransformer {
  readonly [MARK]: SnowflakeMark;
  private readonly form: SnowflakeForm;

  constructor(mark: SnowflakeMark) {
    this[MARK] = mark;
    this.form = new SnowflakeForm(mark.as, mark.prefix);
  }

  from(value: unknown): unknown {
    return this.form.read(value);
  }

  /**
   * A missing ID becomes an SQL expression that refuses to be written: an insert evaluates it, and throws. Throwing here
   * would break `IsNull()`, which asks for undefined, too.
   */
  to(value: unknown): unknown {
    if (value === undefined) return () => this.refuse();
    if (Array.isArray(value)) return value.map((each) => this.to(each));
    if (isSnowflakeRange(value)) return value;
    if (!isOperator(value)) return this.form.compare(value);
    // TypeORM 1 resolves operators itself; 0.3 hands over those inside And() and Or().
    value.transformValue(this);
    return value;
  }

  private refuse(): never {
    throw new SnowflakeNotAssignedError(this[MARK].service, undefined, 'unattached');
  }
}

/** What a generated column's transformer says; undefined for every other column. */
export function markOf(transformer: ValueTransformer | ValueTransformer[] | undefined): SnowflakeMark | undefined {
  return (transformer as { readonly [MARK]?: SnowflakeMark } | undefined)?.[MARK];
}
