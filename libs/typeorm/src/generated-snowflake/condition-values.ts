import type { Layout } from '@raindrop/core';
import type { EntityMetadata, FindOperator, ValueTransformer } from 'typeorm';
import type { ColumnMetadata } from './column-values.js';
import { isSnowflakeRange } from './snowflake-between.js';
import { UnresolvedRangeError } from './snowflake-errors.js';
import type { SnowflakeForm } from './snowflake-form.js';

/** A column that holds IDs, to conditions. */
export interface ComparedColumn {
  readonly form: SnowflakeForm;
  /** Undefined for numbers from segments, which say no time. */
  readonly layout: Layout | undefined;
  /** `Entity.property`. */
  readonly place: string;
}

/**
 * What is compared with a column: values as they are bound, find operators (which stay as they are: a user may use one
 * twice) with such values.
 * @throws UnsafeSnowflakeError; InvalidIdError; UnresolvedRangeError
 */
export function conditionValue(value: unknown, column: ComparedColumn): unknown {
  if (isSnowflakeRange(value)) {
    if (column.layout === undefined) throw new UnresolvedRangeError();
    return value.within(column.layout);
  }
  if (Array.isArray(value)) return value.map((each) => conditionValue(each, column));
  if (!isOperator(value)) return column.form.compare(value, column.place);
  if (NO_ID.has(value.type)) return value;
  const copy = Object.create(Object.getPrototypeOf(value) as object) as FindOperator<unknown>;
  // Its own value: the public one is that of the innermost operator.
  return Object.assign(copy, value, { _value: conditionValue(value['_value' as 'value'], column) });
}

/** Operators whose value is SQL or a pattern. */
const NO_ID: ReadonlySet<string> = new Set(['raw', 'like', 'ilike']);

/** As a transformer, which TypeORM gives the values of conditions to. */
export function conditionTransformer(column: ComparedColumn): ValueTransformer {
  return {
    to: (value: unknown) => conditionValue(value, column),
    from: (value: unknown) => column.form.read(value, column.place),
  };
}

const INSTALLED = Symbol.for('@raindrop/nestjs:condition-columns');

type Entity = EntityMetadata & { [INSTALLED]?: WeakMap<ColumnMetadata, ColumnMetadata> };

/**
 * Converts what a column is compared with in find options, and find operators in where objects of query builders,
 * without a transformer on the column: see `convertValues` for what one would cost.
 * @param entities those that have the column: a single-table parent and its children
 * @returns undoes it
 */
export function convertConditions(
  column: ColumnMetadata,
  compared: ComparedColumn,
  entities: readonly EntityMetadata[],
): () => void {
  // Find options look the column up here, for its transformer.
  const transformer = { value: conditionTransformer(compared) };
  const asked = Object.create(column, { transformer }) as ColumnMetadata;
  for (const entity of entities) askedColumnsOf(entity).set(column, asked);
  // Where objects take their value from here; so does the comparison of an entity with its row, to which it must be the
  // property's. As such it is bound as well as converted, once it is known to be an ID.
  const valueOf = column.getEntityValue.bind(column);
  column.getEntityValue = (entity, transform) => {
    const value: unknown = valueOf(entity, transform);
    if (transform !== true) return value;
    const converted = conditionValue(value, compared);
    return isOperator(value) ? converted : value;
  };
  return () => {
    for (const entity of entities) askedColumnsOf(entity).delete(column);
    delete (column as Partial<ColumnMetadata>).getEntityValue;
  };
}

function askedColumnsOf(entity: Entity): WeakMap<ColumnMetadata, ColumnMetadata> {
  const present = entity[INSTALLED];
  if (present !== undefined) return present;
  const asked = new WeakMap<ColumnMetadata, ColumnMetadata>();
  const find = entity.findColumnWithPropertyPathStrict.bind(entity);
  Object.defineProperty(entity, INSTALLED, { value: asked });
  entity.findColumnWithPropertyPathStrict = (path) => {
    const column = find(path);
    return column === undefined ? undefined : (asked.get(column) ?? column);
  };
  return asked;
}

export function isOperator(value: unknown): value is FindOperator<unknown> {
  return typeof value === 'object' && value !== null && 'transformValue' in value;
}
