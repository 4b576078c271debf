import type { EntitySchemaColumnOptions } from 'typeorm';
import { snowflakeColumnOptions, type GeneratedSnowflakeOptions } from './snowflake-column-options.js';

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
