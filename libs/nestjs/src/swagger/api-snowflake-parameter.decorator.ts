import { ApiParam, ApiQuery, type ApiParamOptions } from '@nestjs/swagger';
import type { IdTextOptions } from '../http/id-text.js';
import { snowflakeDescription, snowflakeSchema } from './snowflake-schema.js';

type ParameterOptions = Omit<Extract<ApiParamOptions, { schema: unknown }>, 'name' | 'schema'>;

/** `ApiParam`'s own options, which win over what is filled in here, and which texts are IDs. */
export type ApiSnowflakeParameterOptions = ParameterOptions & IdTextOptions;

/**
 * Describes an ID in the path, as `@ApiParam()` does; it is what `ParseIdPipe` with the same prefix and codec accepts.
 * @throws ConfigurationError when the prefix or the codec is not legal
 */
export function ApiSnowflakeParam(
  name = 'id',
  options: ApiSnowflakeParameterOptions = {},
): MethodDecorator & ClassDecorator {
  return ApiParam(parameter(name, options));
}

/**
 * Describes an ID in the query, as `@ApiQuery()` does; say `required: false` where it may be left out.
 * @throws ConfigurationError when the prefix or the codec is not legal
 */
export function ApiSnowflakeQuery(
  name: string,
  options: ApiSnowflakeParameterOptions = {},
): MethodDecorator & ClassDecorator {
  return ApiQuery(parameter(name, options));
}

function parameter(
  name: string,
  { prefix, codec, ...rest }: ApiSnowflakeParameterOptions,
): Extract<ApiParamOptions, { schema: unknown }> {
  const text = { prefix, codec };
  return { name, description: snowflakeDescription(text), schema: { ...snowflakeSchema(text) }, ...rest };
}
