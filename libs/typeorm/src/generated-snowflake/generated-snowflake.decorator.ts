import 'reflect-metadata';
import { Column, type ColumnOptions, type EntitySchemaColumnOptions, getMetadataArgsStorage } from 'typeorm';
import { ConfigurationError, typedId } from '@raindrop/core';
import { UnsupportedColumnError } from './snowflake-errors.js';
import type { SnowflakeProperty } from './snowflake-form.js';
import { SnowflakeTransformer } from './snowflake-transformer.js';

/**
 * Declares a column, by default the primary key, that gets an ID on every insert: `save` of an instance, a plain object
 * or an array, cascades, `insert`, `insert().values()`, `upsert`. Always a `bigint` column that no update writes. An ID
 * that is set already stays; null and 0 count as not set.
 *
 *     @Entity() class Order { @GeneratedSnowflake() id!: string; }
 *
 * The ID is set before other subscribers' `beforeInsert`, except when the service has to wait for it. Ways of inserting
 * that call no subscribers, and statements that list their columns without this one, fail with
 * `SnowflakeNotAssignedError`. After an `upsert` that met an existing row the object carries an
 * ID that is not in the database: look the row up, and do not upsert that object again (TypeORM 0.3 then overwrites the
 * row's key).
 *
 * @throws UnsupportedColumnError for options that cannot work, and where another column decorator stands below this one
 */
export function GeneratedSnowflake(options: GeneratedSnowflakeOptions = {}): PropertyDecorator {
  return (target, property) => {
    const place = `${target.constructor.name}.${String(property)}`;
    refuseSecondColumn(target, property, place);
    const declared = declaredProperty(target, property, place);
    const isTypeLost = !Reflect.hasMetadata('design:type', target, property);
    Column(snowflakeColumnOptions(options, place, declared, isTypeLost))(target, property);
  };
}

/** TypeORM takes the first of two, which is the lower one, and says nothing. */
function refuseSecondColumn(target: object, property: string | symbol, place: string): void {
  const { columns } = getMetadataArgsStorage();
  if (!columns.some((each) => each.target === target.constructor && each.propertyName === property)) return;
  throw new UnsupportedColumnError(
    place,
    'another column decorator stands below it, and TypeORM would take that one. Take it away: @GeneratedSnowflake() makes the ' +
      'column, and the primary key, by itself',
  );
}

/** What the compiler noted about the property's type; undefined for unions, aliases of brands and `any`. */
function declaredProperty(target: object, property: string | symbol, place: string): SnowflakeProperty | undefined {
  const type: unknown = Reflect.getMetadata('design:type', target, property);
  if (type === String) return 'string';
  if (type === Number) return 'number';
  if (type === BigInt) return 'bigint';
  if (type === undefined || type === Object) return undefined;
  const name = typeof type === 'function' ? type.name : typeof type;
  throw new UnsupportedColumnError(place, `the property is a ${name}; it must be a string, a number or a bigint`);
}

/** TypeORM's own column options that are left to choose; type, update and transformer are not. */
const COLUMN_OPTIONS = [
  'name',
  'comment',
  'nullable',
  'unique',
  'select',
  'unsigned',
  'primaryKeyConstraintName',
] as const;

type FreeOptions = Pick<ColumnOptions, (typeof COLUMN_OPTIONS)[number]>;

/** The options say which IDs a column gets, and in which form; the rest is of TypeORM. */
export interface GeneratedSnowflakeOptions extends FreeOptions {
  /** Whether the column is (part of) the primary key. Default true. */
  primary?: boolean;
  /** What the property holds. The decorator's default is the property's type, else `string`. */
  as?: SnowflakeProperty;
  /** The name of the service that issues the IDs. Default `default`. */
  service?: string;
  /** The business kind of the IDs, 1-128 characters, with a sequence of its own. */
  code?: string;
  /**
   * Shows the ID as text that says what it identifies: `prefix: 'order'` gives `order_0Cc4kqJ3WmY` in code and JSON, and
   * texts with another prefix are refused. The database keeps the bigint. 1 to 31 of a-z, 0-9 and _. Strings only.
   */
  prefix?: string;
}

const PROPERTIES: readonly unknown[] = ['string', 'number', 'bigint'] satisfies SnowflakeProperty[];
const OWN_OPTIONS = ['primary', 'as', 'service', 'code', 'prefix'] as const;

/**
 * Checks the options and answers with TypeORM's.
 * @param place `Entity.property`, for messages
 * @param inferred what the property's declared type says, if anything
 * @param isTypeLost whether that could not be found out
 * @throws UnsupportedColumnError
 */
function snowflakeColumnOptions(
  options: GeneratedSnowflakeOptions,
  place: string,
  inferred?: SnowflakeProperty,
  isTypeLost = false,
): FreeOptions & { type: 'bigint'; primary: boolean; update: false; transformer: SnowflakeTransformer } {
  const refuse = (reason: string): never => {
    throw new UnsupportedColumnError(place, reason);
  };
  const legal: readonly string[] = [...OWN_OPTIONS, ...COLUMN_OPTIONS];
  const unknown = Object.keys(options).find((name) => !legal.includes(name));
  if (unknown !== undefined) refuse(`'${unknown}' is not an option; there are ${legal.join(', ')}`);

  const { primary = true, as = inferred ?? 'string', service = 'default', code, prefix, ...column } = options;
  if (typeof primary !== 'boolean') refuse('primary must be true or false');
  if (!PROPERTIES.includes(as)) refuse(`as must be 'string', 'number' or 'bigint'`);
  if (inferred !== undefined && as !== inferred) refuse(`as is '${as}', but the property is a ${inferred}`);
  if (!isName(service)) refuse('service must be the name of a service');
  if (code !== undefined && !isName(code)) refuse('code must be a string of 1 to 128 characters');
  if (prefix !== undefined && as !== 'string') refuse(`a prefix is for strings, but the property is a ${as}`);
  const wrongPrefix = prefix === undefined ? undefined : problemOf(prefix);
  if (wrongPrefix !== undefined) refuse(`prefix must be ${wrongPrefix}`);
  if (primary && column.nullable) refuse('a primary key cannot be nullable');

  const isLost = isTypeLost && options.as === undefined && prefix === undefined;
  const transformer = new SnowflakeTransformer({
    place,
    service,
    code,
    as,
    prefix,
    ...(isLost && { isTypeLost: true }),
  });
  return { ...column, primary, type: 'bigint', update: false, transformer };
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length >= 1 && value.length <= 128;
}

/** What a typed ID's prefix has to be, when it is not. */
function problemOf(prefix: string): string | undefined {
  try {
    typedId(prefix);
    return undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems[0]!.message;
    throw error;
  }
}

/**
 * Does what `@GeneratedSnowflake()` does, for an `EntitySchema`. The property is a string unless `as` says otherwise.
 *
 *     new EntitySchema({ name: 'order', columns: { id: snowflakeColumn() } })
 *
 * @throws UnsupportedColumnError for options that cannot work
 */
export function snowflakeColumn(options: GeneratedSnowflakeOptions = {}): EntitySchemaColumnOptions {
  return snowflakeColumnOptions(options, 'A column of an EntitySchema');
}
