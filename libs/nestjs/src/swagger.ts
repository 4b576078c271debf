/**
 * IDs in OpenAPI; needs `@nestjs/swagger`.
 *
 * @module @raindrop/nestjs/swagger
 */

import { refuseNonObject, requireSupported } from '@raindrop/node/internal';
import { ApiParam, type ApiParamOptions, ApiProperty, type ApiPropertyOptions, ApiQuery } from '@nestjs/swagger';
import type { IdTextOptions } from '@raindrop/core';
import { describeIdText, type IdTextSchema } from '@raindrop/core/internal';
import { refuseStandardDecorator } from './http/legacy-decorators.js';

requireSupported('@nestjs/swagger', () => __filename);

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
  const describe = ApiProperty({ ...schemaOf({ prefix, codec }, isArray === true), ...rest });
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
  const { description, ...schema } = schemaOf({ prefix, codec }, isArray);
  return { name, description, schema, ...rest };
}

type Items = Omit<IdTextSchema, 'description'>;

/** The schema of an ID, or of a list of them, with an example. */
function schemaOf(
  text: IdTextOptions,
  isArray: boolean,
): { description: string } & ((Items & { example: string }) | { type: 'array'; items: Items; example: string[] }) {
  const { schema, example } = describeIdText(text);
  const { description, ...items } = schema;
  return isArray ? { description, type: 'array', items, example: [example] } : { description, ...items, example };
}
