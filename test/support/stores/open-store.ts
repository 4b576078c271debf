import type { WorkerStore } from '@raindrop/core';
import type { DataSourceOptions } from 'typeorm';
import { SqlWorkerStore, type SqlWorkerStoreOptions } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { sqlDatabase } from './sql-database.js';

/** A store with everything that a test does not care about. */
export function openStore(dataSource: DataSourceOptions, options: Partial<SqlWorkerStoreOptions> = {}): SqlWorkerStore {
  return new SqlWorkerStore(sqlDatabase(dataSource), {
    tableName: 'soc_raindrop_worker',
    autoCreateTable: true,
    opTimeoutMs: 5_000,
    ...options,
  });
}

/** Takes a row as it is found. */
export async function takeRow(store: WorkerStore, id: number, token = 'a1'): Promise<boolean> {
  const { row } = await store.readRow(id);
  return store.write({
    id,
    expected: { version: row!.version, token: row!.token },
    token,
    odometers: row!.odometers,
    holder: 'test',
    layout: '',
    lane: 0,
    code: 'test',
    timeUnit: 1,
    leaseMs: 60_000,
  });
}
