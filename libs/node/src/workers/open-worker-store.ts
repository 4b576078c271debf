import { MemoryWorkerStore, MemoryWorkerTable, sessionAgesOf } from '@raindrop/core/internal';
import { ConfigurationError, type LeasePorts, type WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import { databaseOf } from '../database/application-database.js';
import { memoryTable } from '../database/memory-table.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { SqlWorkerStore } from '../worker-table/sql-worker-store.js';
import type { ReservingAssigner } from '../ports/worker.js';
import { isReserving, nameOfUse } from '../options/assigner-options.js';

/**
 * The store of worker rows, on a connection of its own to `dbConfig`'s database or the application's.
 * @param now the clock of an in-memory database
 * @param statementTimeoutMs how long a server may take to answer a statement; a keeper leaves it out, because it has
 * deadlines of its own
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openWorkerStore(
  options: ResolvedSnowflakeOptions,
  ofApplication: SqlDatabase | undefined,
  now: () => number,
  statementTimeoutMs?: number,
): WorkerStore {
  const database = databaseOf(options, ofApplication);
  const { tableName, autoCreateTable, foreignTimeZone } = options;
  if (database === undefined) {
    return new MemoryWorkerStore(
      memoryTable('workers', tableName, () => new MemoryWorkerTable()),
      now,
    );
  }
  const { opTimeoutMs, adoptForeign, sharedWithOriginal, maxClockSkewMs, commitLossWindowMs } = options.lease;
  return new SqlWorkerStore(database, {
    tableName,
    autoCreateTable,
    foreignTimeZone,
    opTimeoutMs,
    adoptForeign,
    sharedWithOriginal,
    maxClockSkewMs,
    losesCommits: commitLossWindowMs > 0,
    ...sessionAgesOf(options.lease),
    ...(statementTimeoutMs !== undefined && { statementTimeoutMs }),
  });
}

/** The inputs of a store of worker rows. */
interface StoreSurroundings {
  readonly options: ResolvedSnowflakeOptions;
  readonly ports: Pick<LeasePorts, 'clock' | 'timers'>;
  /** The application's database, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly warn: (message: string) => void;
  /** See {@link openWorkerStore}. Redis always has `opTimeoutMs`. */
  readonly statementTimeoutMs?: number;
}

/**
 * The store of an assigner that keeps odometers.
 * @throws ConfigurationError when there is no database, or the application's own store lacks a method;
 * VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openReservingStore(
  use: 'database' | ReservingAssigner,
  { options, ports, database, warn, statementTimeoutMs }: StoreSurroundings,
): WorkerStore {
  if (use === 'database') {
    return openWorkerStore(options, database, () => ports.clock.refresh(), statementTimeoutMs);
  }
  return complete(use.name, use.openStore({ lease: options.lease, timers: ports.timers, warn }));
}

const METHODS = [
  ...['prepare', 'readTable', 'readSample', 'readRow', 'write', 'rememberLayout'],
  ...['fence', 'durabilityWarnings', 'abandon', 'close'],
];

/** Checks an application's own store at the start: a missing `close()` would else show at the shutdown. */
function complete(name: string, store: unknown): WorkerStore {
  const given = Object(store) as Record<string, unknown>;
  const missing = METHODS.filter((method) => typeof given[method] !== 'function');
  if (missing.length === 0) return store as WorkerStore;
  const message = `must have an openStore() that returns a WorkerStore, not a promise of one; missing: ${missing.join(', ')}`;
  throw new ConfigurationError([{ option: 'workerIdAssigner', given: name, message }]);
}

/**
 * Finds the assigner of the options that leases from a store.
 * @param without what an assigner without a store lacks, for the error
 * @throws ConfigurationError when the options name no such assigner
 */
export function reservingOf({ assigner }: ResolvedSnowflakeOptions, without: string): 'database' | ReservingAssigner {
  const { use } = assigner.parts.at(-1)!;
  if (isReserving(use)) return use;
  const message = `${without}: only 'database', redisWorkers(), etcdWorkers(), natsWorkers() and your own stores do`;
  throw new ConfigurationError([{ option: 'workerIdAssigner', given: nameOfUse(use), message }]);
}
