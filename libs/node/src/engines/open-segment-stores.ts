import {
  MemoryAppSegmentStore,
  MemoryAppSegmentTable,
  MemorySegmentStore,
  MemorySegmentTable,
} from '@raindrop/core/internal';
import type { AppSegmentStore, SegmentPorts, SegmentStore } from '@raindrop/core';
import type { ResolvedSegmentModuleOptions } from '../options/segment-mode-options.js';
import { databaseOf } from '../database/application-database.js';
import { memoryTable } from '../database/memory-table.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { SqlAppSegmentStore } from '../segment-table/sql-app-segment-store.js';
import { SqlSegmentStore } from '../segment-table/sql-segment-store.js';

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
  ofApplication: SqlDatabase | undefined,
  ports: SegmentPorts,
  warn: (message: string) => void,
): Promise<SegmentStores> {
  const database = databaseOf(options, ofApplication);
  if (database === undefined) return openInMemory(options);
  const { tableName, autoCreateTable, autoCreateCode, defaultStep, skipAfterFailover, sharded, redis } = options;
  const { opTimeoutMs } = options.segments;
  const common = { autoCreateTable, opTimeoutMs, skipAfterFailover };
  const codes = new SqlSegmentStore(database, { ...common, tableName, autoCreateCode, defaultStep });
  const apps = sharded && new SqlAppSegmentStore(database, { ...common, tableName: sharded.tableName });
  if (redis === undefined) return { codes, apps };
  const identity = await identityOf(codes);
  const scope = (table: string): string => `${identity} ${database.place} ${table}`;
  return {
    codes: redis.codes(codes, scope(tableName), ports, warn),
    apps: apps && sharded && redis.apps(apps, scope(sharded.tableName), ports, warn),
  };
}

/**
 * Which database it is, by what stands in it: processes that share numbers must mean the same one, and options that look
 * alike (host names, sockets, paths, search paths) can lead to several.
 */
async function identityOf(codes: SqlSegmentStore): Promise<string> {
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
