import type { Layout } from '@raindrop/core';
import type { FindOperator, ValueTransformer } from 'typeorm';
import { isSnowflakeRange } from './snowflake-between.js';
import type { SnowflakeForm } from './snowflake-form.js';

/** Converts what TypeORM compares with a column of IDs and reads from it. */
export class IdTransformer implements ValueTransformer {
  constructor(
    readonly form: SnowflakeForm,
    /** Undefined for numbers from segments, which say no time, and while no service is attached. */
    readonly layout?: Layout,
    /** `Entity.property`. */
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
