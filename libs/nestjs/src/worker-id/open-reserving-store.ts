import type { LeasePorts, WorkerStore } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../snowflake.options.js';
import type { AppDataSource } from '../typeorm/application-database.js';
import { openWorkerStore } from '../typeorm/open-worker-store.js';
import type { ReservingAssigner } from './reserving-assigner.js';

/**
 * The store of an assigner that keeps odometers.
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openReservingStore(
  use: 'database' | ReservingAssigner,
  { options, ports, dataSource, warn, statementTimeoutMs }: StoreSurroundings,
): WorkerStore {
  if (use === 'database') {
    return openWorkerStore(options, dataSource, () => ports.clock.refresh(), statementTimeoutMs);
  }
  return use.openStore({ lease: options.lease, timers: ports.timers, warn });
}

/** What a store is opened with, whichever it is. */
export interface StoreSurroundings {
  readonly options: ResolvedSnowflakeOptions;
  readonly ports: Pick<LeasePorts, 'clock' | 'timers'>;
  readonly dataSource: AppDataSource | undefined;
  readonly warn: (message: string) => void;
  /** A database's limit for a statement, for who is no lease keeper; Redis has `opTimeoutMs` in any case. */
  readonly statementTimeoutMs?: number;
}
