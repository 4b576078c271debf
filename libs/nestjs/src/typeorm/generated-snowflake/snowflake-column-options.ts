import type { ColumnOptions } from 'typeorm';
import { UnsupportedColumnError } from './snowflake-errors.js';
import type { SnowflakeProperty } from './snowflake-property.js';
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

export interface GeneratedSnowflakeOptions extends FreeOptions {
  /** Whether the column is (part of) the primary key. Default true. */
  primary?: boolean;
  /** What the property holds. The decorator's default is the property's type, else `string`. */
  as?: SnowflakeProperty;
  /** The name of the service that issues the IDs. Default `default`. */
  service?: string;
  /** The business kind of the IDs, 1-128 characters, with a sequence of its own. */
  code?: string;
}

const PROPERTIES: readonly unknown[] = ['string', 'number', 'bigint'] satisfies SnowflakeProperty[];
const OWN_OPTIONS = ['primary', 'as', 'service', 'code'] as const;

/**
 * Checks the options and answers with TypeORM's.
 * @param place `Entity.property`, for messages
 * @param inferred what the property's declared type says, if anything
 * @throws UnsupportedColumnError
 */
export function snowflakeColumnOptions(
  options: GeneratedSnowflakeOptions,
  place: string,
  inferred?: SnowflakeProperty,
): FreeOptions & { type: 'bigint'; primary: boolean; update: false; transformer: SnowflakeTransformer } {
  const refuse = (reason: string): never => {
    throw new UnsupportedColumnError(place, reason);
  };
  const legal: readonly string[] = [...OWN_OPTIONS, ...COLUMN_OPTIONS];
  const unknown = Object.keys(options).find((name) => !legal.includes(name));
  if (unknown !== undefined) refuse(`'${unknown}' is not an option; there are ${legal.join(', ')}`);

  const { primary = true, as = inferred ?? 'string', service = 'default', code, ...column } = options;
  if (typeof primary !== 'boolean') refuse('primary must be true or false');
  if (!PROPERTIES.includes(as)) refuse(`as must be 'string', 'number' or 'bigint'`);
  if (inferred !== undefined && as !== inferred) refuse(`as is '${as}', but the property is a ${inferred}`);
  if (!isName(service)) refuse('service must be the name of a service');
  if (code !== undefined && !isName(code)) refuse('code must be a string of 1 to 128 characters');
  if (primary && column.nullable) refuse('a primary key cannot be nullable');

  const transformer = new SnowflakeTransformer({ service, code, as });
  return { ...column, primary, type: 'bigint', update: false, transformer };
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length >= 1 && value.length <= 128;
}
