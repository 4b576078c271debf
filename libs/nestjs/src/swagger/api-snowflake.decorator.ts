import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { IdTextOptions } from '../http/id-text.js';
import { snowflakeDescription, snowflakeSchema } from './snowflake-schema.js';

/** `ApiProperty`'s own options, which win over what is filled in here, and which texts are IDs. */
export type ApiSnowflakeOptions = ApiPropertyOptions & IdTextOptions;

/**
 * Describes an ID, as `@ApiProperty()` does: type `string`, format `int64`, pattern, example and description. With a
 * prefix or another codec the text is no integer, and there is no format. `isArray: true` describes a list of IDs.
 *
 * @throws ConfigurationError when the prefix or the codec is not legal
 */
export function ApiSnowflake(options: ApiSnowflakeOptions = {}): PropertyDecorator {
  const { prefix, codec, isArray, ...rest } = options;
  const text = { prefix, codec };
  const { example, ...schema } = snowflakeSchema(text);
  const filled = isArray ? { type: 'array', items: schema, example: [example] } : { ...schema, example };
  return ApiProperty({ description: snowflakeDescription(text), ...filled, ...rest } as ApiPropertyOptions);
}
