/** Precision: the largest ID, sent through Sequelize's own connection and read as a key is. */

import { ConfigurationError } from '@raindrop/core';
import type { PrecisionReport } from '@raindrop/node/internal';
import { QueryTypes, type Sequelize } from 'sequelize';
import {
  checkSamples,
  fillerWarnings,
  type NamedKey,
  type PlacedKey,
  type PrecisionOptions,
  selectOf,
} from '../precision.js';
import { type Database, DATABASES } from '../databases.js';
import { dialectNamed } from './dialects.js';
import { type Key, keysOf } from './key.js';

/**
 * Sends the largest ID of the models' keys through Sequelize's own connection, in one SELECT, and compares the value that
 * a key would have. Await it once the models are defined. Sequelize loads no relations as JSON. On SQLite it first asks
 * each table for the type of its key: a migration may have made it an integer.
 * @returns the exact keys, and a warning for each that the database still fills
 * @throws RoundedIdsError if digits are lost, with the setting; NoOpenServiceError if the keys' service is not open;
 * ConfigurationError if no model has such a key; Sequelize's error if the database does not answer
 */
export async function checkPrecision(sequelize: Sequelize, options: PrecisionOptions = {}): Promise<PrecisionReport> {
  const { database, cureOf } = dialectNamed(sequelize.getDialect());
  const { dialectOptions } = (sequelize as unknown as { readonly options: { readonly dialectOptions?: object } })
    .options;
  const keys: (NamedKey & PlacedKey)[] = [];
  for (const model of Object.values(sequelize.models)) {
    for (const key of keysOf(model as never)) {
      const { place, field: column, type } = key;
      const { tableName: table, _schema: schema } = model as unknown as { tableName: string; _schema?: string | null };
      const isText = await isKeptAsText(sequelize, database, table, key);
      const { keys: source } = type;
      const { databaseDefault } = source;
      keys.push({ place, source, databaseDefault, isText, schema: schema || undefined, table, column });
    }
  }
  if (keys.length === 0) {
    const message = 'have no snowflakeKey()';
    throw new ConfigurationError([{ option: 'models', given: 'those of Sequelize', message }]);
  }
  const select = async (sql: string): Promise<Record<string, unknown>> => {
    const [row] = await sequelize.query<Record<string, unknown>>(sql, { type: QueryTypes.SELECT });
    return row!;
  };
  const { exact } = await checkSamples(keys, options, select, () => cureOf(dialectOptions));
  const valuesOf = async (some: readonly string[]): Promise<unknown[]> => Object.values(await select(selectOf(some)));
  return { exact, warnings: await fillerWarnings(keys, database, valuesOf) };
}

/** Whether the database keeps the IDs of this key as texts: on SQLite as the table says, if it is there. */
async function isKeptAsText(
  sequelize: Sequelize,
  database: Database,
  table: string,
  { type, field }: Key,
): Promise<boolean> {
  let column = type.toSql();
  if (DATABASES[database].fillsIntegerKeys) {
    const sql = 'select type from pragma_table_info(:table) where name = :field';
    const options = { type: QueryTypes.SELECT, replacements: { table, field } } as const;
    const [found] = await sequelize.query<{ readonly type: string }>(sql, options);
    column = found?.type ?? column;
  }
  return !/int/i.test(column) && /char|clob|text|blob|^$/i.test(column);
}
