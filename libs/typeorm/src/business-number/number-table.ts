import { ConfigurationError } from '@raindrop/core';
import type { DataSource } from 'typeorm';
import {
  quoteTable,
  type Dialect,
  dialectOf,
  isSupportedDatabase,
  type ColumnDefinition,
  parseTableName,
  type TableName,
} from '@raindrop/node/internal';
import { SUPPORTED_DATABASES, type SupportedDatabase } from '@raindrop/node';

/** The table's name when none is given. */
export const DEFAULT_NUMBER_TABLE = 'raindrop_business_number';

/** The table of business numbers in one database. */
export interface NumberTable {
  readonly type: SupportedDatabase;
  readonly dialect: Dialect;
  readonly table: TableName;
}

/**
 * A row for each series, tenant and period: start_value to value were given out. Both times are Unix ms of the database.
 * And one row for each series and tenant that says when it starts anew, see reset-row.ts.
 */
export const NUMBER_COLUMNS: readonly ColumnDefinition[] = [
  { name: 'series', kind: { key: 128 }, defaultValue: undefined },
  { name: 'per', kind: { key: 64 }, defaultValue: undefined },
  { name: 'period', kind: { exact: 10 }, defaultValue: undefined },
  { name: 'value', kind: 'bigint', defaultValue: undefined },
  { name: 'start_value', kind: 'bigint', defaultValue: undefined },
  { name: 'created_ms', kind: 'bigint', defaultValue: undefined },
  { name: 'updated_ms', kind: 'bigint', defaultValue: undefined },
];

export const KEY_COLUMNS = ['series', 'per', 'period'] as const;

/** The part of the key that people choose. */
export const NAME_COLUMNS = ['series', 'per'] as const;

/**
 * Returns the statements that create the table of business numbers where it is missing: what prepareBusinessNumbers()
 * runs, for those who want to run it by hand.
 *
 * @param tableName `table` or `schema.table`
 * @throws ConfigurationError when the database is not supported; InvalidTableNameError
 */
export function businessNumberTableSql(type: SupportedDatabase, tableName: string = DEFAULT_NUMBER_TABLE): string[] {
  return createNumberTable(numberTable({ type }, tableName));
}

/** @throws ConfigurationError when the database is not supported; InvalidTableNameError */
export function numberTable(options: { readonly type: string }, tableName: string): NumberTable {
  const { type, schema } = options as { type: string; schema?: string };
  if (!isSupportedDatabase(type)) {
    const message = `cannot keep business numbers; supported are ${SUPPORTED_DATABASES.join(', ')}`;
    throw new ConfigurationError([{ option: "the DataSource's type", given: `'${type}'`, message }]);
  }
  return { type, dialect: dialectOf(type), table: parseTableName(tableName, schema) };
}

/** The table's place, where TypeORM tells it. */
export function numberTableOf(owner: { readonly dataSource: DataSource }, tableName: string): NumberTable {
  return numberTable(dataSourceOf(owner).options, tableName);
}

/** TypeORM 0.3 calls it connection. */
export function dataSourceOf(owner: { readonly dataSource: DataSource }): DataSource {
  return owner.dataSource ?? (owner as unknown as { connection: DataSource }).connection;
}

export function createNumberTable({ dialect, table }: NumberTable): string[] {
  const columns = NUMBER_COLUMNS.map((column) => `  ${dialect.quote(column.name)} ${dialect.definition(column)}`);
  const key = KEY_COLUMNS.map((column) => dialect.quote(column)).join(', ');
  const body = [...columns, `  PRIMARY KEY (${key})`].join(',\n');
  return [`CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n${body}\n)${dialect.keyTableOptions}`];
}

export function dropNumberTable({ dialect, table }: NumberTable): string {
  return `DROP TABLE IF EXISTS ${quoteTable(dialect, table)}`;
}
