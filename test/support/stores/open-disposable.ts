import { presets, type AssignedWorkerId, type WorkerIdRequest } from '@raindrop/core';
import type { DataSourceOptions } from 'typeorm';
import {
  DisposableAssigner,
  type DisposableAssignerOptions,
} from '../../../libs/node/src/worker-node-table/disposable-assigner.js';
import { WORKER_NODE_TABLE } from '../../../libs/node/src/worker-node-table/worker-node-table.js';
import { sqlDatabase } from './sql-database.js';

const layout = presets.uidGenerator({ startTimeStamp: '2026-01-01' });
const workers = { min: 1, max: layout.maxWorkerId };

/** What a start asks for, with uid-generator's 22 bits. */
export const request: WorkerIdRequest = { layout, workers, holder: 'host-1, pid 42' };

/** An assigner with everything that a test does not care about. */
export function openDisposable(
  dataSource: DataSourceOptions,
  options: Partial<DisposableAssignerOptions> = {},
): DisposableAssigner {
  return new DisposableAssigner(sqlDatabase(dataSource), {
    tableName: WORKER_NODE_TABLE.defaultName,
    autoCreateTable: true,
    opTimeoutMs: 5_000,
    servicePort: 8_080,
    ...options,
  });
}

/** One start. */
export function start(dataSource: DataSourceOptions, min = 1, max = workers.max): Promise<AssignedWorkerId> {
  return openDisposable(dataSource).acquire({ ...request, workers: { min, max } });
}
