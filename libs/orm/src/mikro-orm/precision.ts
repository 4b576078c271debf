/** Precision: the largest ID, sent through the ORM's own connection and read as a key is. */

import { ConfigurationError } from '@raindrop/core';
import type { PrecisionReport } from '@raindrop/node/internal';
import type { Platform } from '@mikro-orm/core';
import { checkSamples, fillerWarnings, type NamedKey, type PrecisionOptions, selectOf } from '../precision.js';
import { type Database, DATABASES, type DriverSettings } from '../databases.js';
import { databaseOf, type Key, keysOf, type Meta } from './key.js';

/** A MikroORM of either version, on any database. */
export interface MikroOrmLike {
  readonly em: object;
  readonly config: object;
  /** Returns the metadata of all entities. */
  getMetadata(...args: never[]): unknown;
}

/**
 * Sends the largest ID of the entities' keys through the ORM's own connection, in one SELECT, and compares the value that a
 * key would have. Await it after `MikroORM.init()`. MikroORM loads no relations as JSON.
 * @returns the exact keys, and a warning for each that the database still fills
 * @throws RoundedIdsError if digits are lost, with the setting; NoOpenServiceError if the keys' service is not open;
 * ConfigurationError if no entity has such a key; MikroORM's error if the database does not answer
 */
export async function checkPrecision(orm: MikroOrmLike, options: PrecisionOptions = {}): Promise<PrecisionReport> {
  const em = orm.em as unknown as SampledManager;
  const all = (orm.getMetadata() as { getAll(): Map<unknown, Meta> | Record<string, Meta> }).getAll();
  const metas = all instanceof Map ? [...all.values()] : Object.values(all);
  const keys = metas.flatMap((meta) => keysOf(meta));
  if (keys.length === 0) {
    const message = 'have no @SnowflakePrimaryKey() and no snowflakeKey()';
    throw new ConfigurationError([{ option: 'entities', given: 'those of the ORM', message }]);
  }
  const select = async (sql: string): Promise<Readonly<Record<string, unknown>>> =>
    (await em.getConnection().execute(sql))[0]!;
  const database = databaseOf(em.getPlatform());
  const { exact } = await checkSamples(keys.map(namedKey), options, select, () => cure(database, orm.config));
  const placed = metas.flatMap((meta) => {
    const { tableName: table, schema } = meta;
    // An asterisk stands for the schema of each query.
    return keysOf(meta).map(({ place, fieldNames: [column], customType }) => ({
      place,
      databaseDefault: customType.keys.databaseDefault,
      schema: schema === '*' ? undefined : schema,
      table,
      column: column!,
    }));
  });
  const valuesOf = async (some: readonly string[]): Promise<unknown[]> => Object.values(await select(selectOf(some)));
  return { exact, warnings: await fillerWarnings(placed, database, valuesOf) };
}

interface SampledManager {
  getConnection(): { execute(sql: string): Promise<readonly Record<string, unknown>[]> };
  getPlatform(): Platform;
}

function namedKey({ place, customType, columnTypes }: Key): NamedKey {
  return { place, source: customType.keys, isText: /text|char/i.test(columnTypes?.[0] ?? '') };
}

function cure(database: Database, config: object): string {
  const given = (config as { get(name: string): unknown }).get('driverOptions') as { connection?: object } | undefined;
  // MikroORM sets it to true by default.
  const settings: DriverSettings = { supportBigNumbers: true, ...given, ...given?.connection };
  return DATABASES[database].cureOf(settings);
}
