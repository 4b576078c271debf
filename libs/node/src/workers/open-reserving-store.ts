import type { LeasePorts, WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { openWorkerStore } from './open-worker-store.js';
import type { ReservingAssigner } from '../ports/reserving-assigner.js';

/**
 * The store of an assigner that keeps odometers.
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openReservingStore(
  use: 'database' | ReservingAssigner,
  { options, ports, database, warn, statementTimeoutMs }: StoreSurroundings,
): WorkerStore {
  if (use === 'database') {
    return openWorkerStore(options, database, () => ports.clock.refresh(), statementTimeoutMs);
  }
  return use.openStore({ lease: options.lease, timers: ports.timers, warn });
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
