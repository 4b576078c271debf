import { ConfigurationError } from '@raindrop/core';
import { SUPPORTED_DATABASES } from '@raindrop/node/internal';
import {
  BUSINESS_NUMBER_TABLE,
  dialectOf,
  isSupportedDatabase,
  parseTableName,
  type Table,
} from '@raindrop/node/internal';
import type { DataSourceOptions } from 'typeorm';

/**
 * The table of business numbers of a DataSource with these options.
 * @throws ConfigurationError when the database is not supported; InvalidTableNameError
 */
export function numberTable(options: DataSourceOptions, tableName: string): Table {
  const { type, schema } = options as { type: string; schema?: string };
  if (!isSupportedDatabase(type)) {
    const message = `cannot keep business numbers; supported are ${SUPPORTED_DATABASES.join(', ')}`;
    throw new ConfigurationError([{ option: "the DataSource's type", given: `'${type}'`, message }]);
  }
  return { kind: BUSINESS_NUMBER_TABLE, dialect: dialectOf(type), name: parseTableName(tableName, schema) };
}
