import { hostname } from 'node:os';
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
 * @param warn what is not as it should be with the buffer
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError; with a buffer,
 *   what keeps the table from being prepared
 */
export async function openSegmentStores(
  options: ResolvedSegmentModuleOptions,
  appDataSource: AppDataSource | undefined,
  ports: SegmentPorts,
  warn: (message: string) => void,
): Promise<SegmentStores> {
  const database = databaseOf(options, appDataSource);
  if (database === undefined) return openInMemory(options);
  const { tableName, autoCreateTable, autoCreateCode, defaultStep, sharded, redis } = options;
  const { opTimeoutMs } = options.segments;
  const common = { autoCreateTable, opTimeoutMs, configuredBy: database.configuredBy };
  const codes = new TypeormSegmentStore(database.options, { ...common, tableName, autoCreateCode, defaultStep });
  const apps = sharded && new TypeormAppSegmentStore(database.options, { ...common, tableName: sharded.tableName });
  if (redis === undefined) return { codes, apps };
  const identity = await identityOf(codes);
  const scope = (table: string): string => `${identity} ${placeOf(database.options)} ${table}`;
  return {
    codes: redis.codes(codes, scope(tableName), ports, warn),
    apps: apps && sharded && redis.apps(apps, scope(sharded.tableName), ports, warn),
  };
}

/**
 * Which database it is, by what stands in it: processes that share numbers must mean the same one, and options that look
 * alike (host names, sockets, paths, search paths) can lead to several.
 */
async function identityOf(codes: TypeormSegmentStore): Promise<string> {
  try {
    await codes.prepare();
    return await codes.identity();
  } catch (error) {
    await codes.close();
    throw error;
  }
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

/** Tells a copy of a database from its original, as far as the options do; without account and password. */
function placeOf(options: DataSourceOptions): string {
  const {
    type,
    url,
    host = '',
    port = '',
    database = '',
    schema = '',
  } = options as Partial<Record<'type' | 'url' | 'host' | 'port' | 'database' | 'schema', string | number>>;
  // A file belongs to one host: there may be another of that name elsewhere.
  if (type === 'better-sqlite3') return `${hostname()} ${resolve(String(database))}`;
  const given = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined;
  return `${given?.host ?? `${host}:${port}`}${given?.pathname ?? ''} ${database} ${schema}`;
}
