import { ConfigurationError, type LeasePorts, type WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { openWorkerStore } from './open-worker-store.js';
import type { ReservingAssigner } from '../ports/reserving-assigner.js';

/**
 * The store of an assigner that keeps odometers.
 * @throws ConfigurationError when there is no database, or a store of your own lacks a method; VolatileDatabaseError; UnsupportedDatabaseError
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

/** What a store of your own lacks is said at the start, not at the shutdown. */
function complete(name: string, store: unknown): WorkerStore {
  const given = Object(store) as Record<string, unknown>;
  const missing = METHODS.filter((method) => typeof given[method] !== 'function');
  if (missing.length === 0) return store as WorkerStore;
  const message = `has an openStore() that must return a WorkerStore, and no promise of one; it lacks ${missing.join(', ')}`;
  throw new ConfigurationError([{ option: 'workerIdAssigner', given: name, message }]);
}

/** What a store is opened with, whichever it is. */
export interface StoreSurroundings {
  readonly options: ResolvedSnowflakeOptions;
  readonly ports: Pick<LeasePorts, 'clock' | 'timers'>;
  /** The application's, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly warn: (message: string) => void;
  /** A database's limit for a statement, for who is no lease keeper; Redis has `opTimeoutMs` in any case. */
  readonly statementTimeoutMs?: number;
}
