/**
 * IDs in OpenAPI; needs `@nestjs/swagger`.
 *
 * @module @raindrop/nestjs/swagger
 */

import { refuseNonObject, requireSupported } from '@raindrop/node/internal';
import { ApiParam, type ApiParamOptions, ApiProperty, type ApiPropertyOptions, ApiQuery } from '@nestjs/swagger';
import { idText, type IdTextOptions } from './http/id-text.js';
import { refuseStandardDecorator } from './http/legacy-decorators.js';

requireSupported('@nestjs/swagger', () => __filename);

/** The example ID; below 2^53, because every codec can write such an ID. */
const EXAMPLE = 4_094_321_512_251_394n;

/** The options of `ApiProperty`, which win over what is filled in here, and the form of the IDs. */
export type ApiSnowflakeOptions = ApiPropertyOptions & IdTextOptions;

/**
 * Describes an ID, as `@ApiProperty()` does: type `string`, format `int64`, pattern, example and description. With a
 * prefix or another codec the text is no integer, and has no format. `isArray: true` describes a list of IDs.
 *
 * @throws ConfigurationError when the prefix or the codec is not legal, and where the compiler's option
 * `experimentalDecorators` is not set
 */
export function ApiSnowflake(options: ApiSnowflakeOptions = {}): PropertyDecorator {
  refuseNonObject('options', options, 'must be an object with the options');
  const { prefix, codec, isArray, ...rest } = options;
  const text = { prefix, codec };
  const filled = schemaOf(text, isArray === true);
  const describe = ApiProperty({ description: snowflakeDescription(text), ...filled, ...rest });
  return (target, property) => {
    refuseStandardDecorator('@ApiSnowflake()', target, property);
    describe(target, property);
  };
}

type ParameterOptions = Omit<Extract<ApiParamOptions, { schema: unknown }>, 'name' | 'schema'>;

/** The options of `ApiParam`, which win over what is filled in here, and the form of the IDs. */
export type ApiSnowflakeParameterOptions = ParameterOptions &
  IdTextOptions & {
    /** Whether the parameter is a list of IDs with commas between: `?ids=12,13`, as `ParseArrayPipe` reads it. Default false. */
    isArray?: boolean;
  };

/**
 * Describes an ID in the path, as `@ApiParam()` does: the texts that `ParseIdPipe` with the same prefix and codec
 * accepts. `isArray: true` describes a list with commas between.
 * @throws ConfigurationError when the prefix or the codec is not legal
 */
export function ApiSnowflakeParam(
  name = 'id',
  options: ApiSnowflakeParameterOptions = {},
): MethodDecorator & ClassDecorator {
  return ApiParam(parameter(name, options));
}

/**
 * Describes an ID in the query, as `@ApiQuery()` does. Pass `required: false` where it may be left out, and
 * `isArray: true` for a list with commas between, `?ids=12,13`; with `explode: true` it is `?ids=12&ids=13`.
 * @throws ConfigurationError when the prefix or the codec is not legal
 */
export function ApiSnowflakeQuery(
  name: string,
  options: ApiSnowflakeParameterOptions = {},
): MethodDecorator & ClassDecorator {
  const list = options.isArray === true ? { style: 'form' as const, explode: false } : {};
  return ApiQuery({ ...list, ...parameter(name, options) });
}

function parameter(
  name: string,
  { prefix, codec, isArray = false, ...rest }: ApiSnowflakeParameterOptions,
): Extract<ApiParamOptions, { schema: unknown }> {
  const text = { prefix, codec };
  return { name, description: snowflakeDescription(text), schema: schemaOf(text, isArray), ...rest };
}

/** The schema of an ID, or of a list of them, with an example. */
function schemaOf(
  text: IdTextOptions,
  isArray: boolean,
): SnowflakeSchema | { type: 'array'; items: Omit<SnowflakeSchema, 'example'>; example: string[] } {
  const { example, ...schema } = snowflakeSchema(text);
  return isArray ? { type: 'array', items: schema, example: [example] } : { ...schema, example };
}

/** The OpenAPI schema of an ID's text. */
interface SnowflakeSchema {
  readonly type: 'string';
  /** For decimal texts only: an integer that JavaScript would round as a number. */
  readonly format?: 'int64';
  readonly pattern?: string;
  readonly maxLength: number;
  readonly example: string;
}

/** @throws ConfigurationError when the prefix or the codec is not legal */
function snowflakeSchema(options: IdTextOptions): SnowflakeSchema {
  const { codec } = idText(options);
  const { format, pattern } = formOf(options);
  return {
    type: 'string',
    ...(format && { format }),
    ...(pattern && { pattern }),
    maxLength: codec.width,
    example: codec.encode(EXAMPLE),
  };
}

function snowflakeDescription({ prefix }: IdTextOptions): string {
  return prefix === undefined
    ? 'A 63-bit ID, as text: a number would be rounded.'
    : `An ID that begins with ${prefix}_.`;
}

function formOf({ prefix, codec }: IdTextOptions): { format?: 'int64'; pattern?: string } {
  if (prefix !== undefined) {
    const isUsual = codec === undefined || codec === 'base62-padded';
    return { pattern: `^${prefix}_${isUsual ? '[0-9A-Za-z]{11}' : '.+'}$` };
  }
  if (codec !== undefined && codec !== 'decimal') return {};
  return { format: 'int64', pattern: '^(0|[1-9][0-9]{0,18})$' };
}
