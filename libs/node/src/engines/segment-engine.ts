import {
  MemoryAppSegmentStore,
  MemoryAppSegmentTable,
  MemorySegmentStore,
  MemorySegmentTable,
  SegmentGenerator,
  ShardedGenerator,
} from '@raindrop/core/internal';
import type { AppSegmentStore, SegmentPorts, SegmentStore } from '@raindrop/core';
import type { IdEngine, SegmentServiceStatus } from '../ports/id-engine.js';
import type { SqlDatabase } from '../database/sql-database.js';
import type { ResolvedSegmentModuleOptions } from '../options/resolve-options.js';
import { databaseOf } from '../database/application-database.js';
import { memoryTable } from '../database/memory-table.js';
import { SqlAppSegmentStore, SqlSegmentStore } from '../segment-table/sql-segment-store.js';

/** Issues numbers from segments, by code and for apps. */
export class SegmentEngine implements IdEngine {
  readonly layout = undefined;
  private isClosed = false;

  constructor(
    readonly calls: SegmentGenerator,
    readonly sharded: ShardedGenerator | undefined,
    private readonly startCodes: readonly string[],
  ) {}

  /** Does nothing: segments have no events. */
  emitTo(): void {}

  status(service: string): SegmentServiceStatus {
    const codes = this.calls.status();
    const sharded = this.sharded?.status();
    return {
      service,
      idMode: 'numberSection',
      state: this.isClosed ? 'closed' : 'ready',
      codes,
      startCodes: this.startCodes,
      sharded,
      lastError: codes.find(({ lastError }) => lastError !== undefined)?.lastError ?? sharded?.lastError,
      counters: this.calls.counters,
    };
  }

  afterRestore(): void {
    this.calls.afterRestore();
    this.sharded?.afterRestore();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([this.calls.close(), this.sharded?.close()]);
  }
}

/**
 * Opens the tables, registers the apps of the options, and reserves the first numbers of each code that they name.
 * @param warn told which settings of the database can lose reserved numbers, and what is wrong with the shared buffer
 * @throws the error that keeps numbers from coming; everything that was opened is closed then
 */
export async function openSegmentEngine(
  options: ResolvedSegmentModuleOptions,
  ofApplication: SqlDatabase | undefined,
  ports: SegmentPorts,
  warn: (message: string) => void,
): Promise<SegmentEngine> {
  const stores = await openSegmentStores(options, ofApplication, ports, warn);
  const calls = new SegmentGenerator(stores.codes, ports, options.segments);
  const sharded = stores.apps && new ShardedGenerator(stores.apps, ports, options.segments);
  const engine = new SegmentEngine(calls, sharded, options.codes);
  try {
    await calls.start(options.codes);
    await sharded?.start();
    for (const { id, name, description } of options.sharded?.apps ?? []) {
      await sharded?.registerApp(id, name, description);
    }
    await warnOfSettings(stores, warn);
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

/** A database that does not tell its settings can be used all the same. */
async function warnOfSettings({ codes }: SegmentStores, warn: (message: string) => void): Promise<void> {
  const warnings = await codes.durabilityWarnings().catch(() => []);
  for (const message of warnings) warn(message);
}

/** The stores from which a service reserves segments. */
interface SegmentStores {
  readonly codes: SegmentStore;
  /** For sharded IDs. */
  readonly apps: AppSegmentStore | undefined;
}

/**
 * The stores of segments, each on a connection of its own to `dbConfig`'s database or the application's, behind the
 * shared buffer if there is one.
 * @param warn told what is wrong with the shared buffer
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError; with a buffer,
 *   the error that keeps the table from being prepared
 */
async function openSegmentStores(
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
 * Reads which database this is from the database itself. Processes that share numbers must use the same database, and
 * options that look alike (host names, sockets, paths, search paths) can lead to different ones.
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
