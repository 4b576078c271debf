import { resolve } from 'node:path';
import {
  MemoryAppSegmentStore,
  MemoryAppSegmentTable,
  MemorySegmentStore,
  MemorySegmentTable,
  type AppSegmentStore,
  type SegmentPorts,
  type SegmentStore,
} from '@raindrop/core';
import type { DataSourceOptions } from 'typeorm';
import type { ResolvedSegmentModuleOptions } from '../segment/segment.options.js';
import { databaseOf, memoryTable, type AppDataSource } from './application-database.js';
import { TypeormAppSegmentStore } from './segment-store/typeorm-app-segment-store.js';
import { TypeormSegmentStore } from './segment-store/typeorm-segment-store.js';

/** Where a service's numbers come from. */
export interface SegmentStores {
  readonly codes: SegmentStore;
  /** For sharded IDs. */
  readonly apps: AppSegmentStore | undefined;
}

/**
 * The stores of segments, each on a connection of its own to `dbConfig`'s database or the application's, behind the
 * shared buffer if there is one.
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openSegmentStores(
  options: ResolvedSegmentModuleOptions,
  appDataSource: AppDataSource | undefined,
  ports: SegmentPorts,
): SegmentStores {
  const database = databaseOf(options, appDataSource);
  if (database === undefined) return openInMemory(options);
  const { tableName, autoCreateTable, autoCreateCode, defaultStep, sharded, redis } = options;
  const { opTimeoutMs } = options.segments;
  const common = { autoCreateTable, opTimeoutMs, configuredBy: database.configuredBy };
  const codes = new TypeormSegmentStore(database.options, { ...common, tableName, autoCreateCode, defaultStep });
  const apps = sharded && new TypeormAppSegmentStore(database.options, { ...common, tableName: sharded.tableName });
  if (redis === undefined) return { codes, apps };
  const scope = (table: string): string => `${placeOf(database.options)} ${table}`;
  return {
    codes: redis.codes(codes, scope(tableName), ports),
    apps: apps && sharded && redis.apps(apps, scope(sharded.tableName), ports),
  };
}

function openInMemory({
  tableName,
  autoCreateCode,
  defaultStep,
  sharded,
}: ResolvedSegmentModuleOptions): SegmentStores {
  const codes = memoryTable('segments', tableName, () => new MemorySegmentTable());
  return {
    codes: new MemorySegmentStore(codes, { autoCreateCode, step: defaultStep }),
    apps:
      sharded &&
      new MemoryAppSegmentStore(memoryTable('app segments', sharded.tableName, () => new MemoryAppSegmentTable())),
  };
}

type Place = Readonly<Partial<Record<'type' | 'url' | 'host' | 'port' | 'database' | 'schema', string | number>>>;

/** Which database it is, as far as its options say; without account and password. */
function placeOf(options: DataSourceOptions): string {
  const { type, url, host = 'localhost', port = '', database = '', schema = '' } = options as Place;
  if (type === 'better-sqlite3') return `sqlite ${resolve(String(database))}`;
  const given = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  const server = `${given?.hostname ?? host}:${given?.port || port}`;
  return `${type === 'postgres' ? type : 'mysql'} ${server}/${given?.pathname.slice(1) || database} ${schema}`.trim();
}
