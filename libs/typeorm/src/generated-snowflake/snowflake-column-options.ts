import { ConfigurationError, typedId } from '@raindrop/core';
import type { ColumnOptions } from 'typeorm';
import { UnsupportedColumnError } from './snowflake-errors.js';
import type { SnowflakeProperty } from './snowflake-form.js';
import { SnowflakeTransformer } from './snowflake-transformer.js';

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
export function snowflakeColumnOptions(
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
