import { AssignedWorkerKeeper } from '@raindrop/core/internal';
import type {
  AssignedIdSetup,
  LeaseEvent,
  LeasePorts,
  LeaseStatus,
  SnowflakeGenerator,
  Tenure,
  WorkerIdAssigner,
  WorkerIdGuarantee,
} from '@raindrop/core';
import type { Worker } from '../ports/worker.js';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import { databaseOf } from '../database/application-database.js';
import { memoryTable } from '../database/memory-table.js';
import type { SqlDatabase } from '../database/sql-database.js';
import {
  DisposableAssigner,
  MemoryDisposableAssigner,
  type MemoryNodes,
} from '../worker-node-table/disposable-assigner.js';
import { LeaseListeners } from './leased-worker.js';

/** A worker id from an assigner that keeps no odometers. */
export class AssignedWorker implements Worker {
  readonly assigner: string;
  readonly guarantee: WorkerIdGuarantee;
  private readonly keeper: AssignedWorkerKeeper;
  private readonly listeners = new LeaseListeners();

  constructor(setup: AssignedIdSetup, ports: LeasePorts) {
    this.assigner = setup.assigner.name;
    this.guarantee = setup.assigner.guarantee;
    this.keeper = new AssignedWorkerKeeper(setup, ports, this.listeners.tell);
  }

  get tenure(): Tenure {
    return this.keeper;
  }

  /** False when the assigner has no worker id to give. @throws what {@link AssignedWorkerKeeper.start} throws */
  async begin(): Promise<boolean> {
    try {
      return await this.keeper.start();
    } catch (error) {
      await this.keeper.close();
      throw error;
    }
  }

  /** It has begun already. */
  start(generator: SnowflakeGenerator): Promise<void> {
    this.keeper.setHighestIssued((lane) => generator.highest(this.keeper, lane));
    return Promise.resolve();
  }

  status(): LeaseStatus {
    return this.keeper.status();
  }

  onEvent(listener: (event: LeaseEvent) => void): void {
    this.listeners.add(listener);
  }

  afterRestore(): void {
    this.keeper.afterRestore();
  }

  close(): Promise<void> {
    return this.keeper.close();
  }
}

/**
 * A new worker id for each start, from a table in `dbConfig`'s database or the application's.
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openDisposableAssigner(
  options: ResolvedSnowflakeOptions,
  ofApplication: SqlDatabase | undefined,
): WorkerIdAssigner {
  const database = databaseOf(options, ofApplication);
  const { tableName, autoCreateTable, servicePort } = options;
  if (database === undefined) {
    return new MemoryDisposableAssigner(memoryTable('worker nodes', tableName, (): MemoryNodes => ({ last: 0 })));
  }
  const { opTimeoutMs } = options.lease;
  return new DisposableAssigner(database, {
    ...{ tableName, autoCreateTable, servicePort, opTimeoutMs },
  });
}
