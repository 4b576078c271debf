import { SnowflakeGenerator, type Worker } from '@raindrop/core/internal';
import type { LeaseEvent, WorkerStore } from '@raindrop/core';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { leaseWorker } from '../../../libs/node/src/workers/open-worker.js';
import { resolveSnowflakeOptions } from '../../../libs/node/src/options/resolve-options.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import { openWorkerStore } from '../../../libs/node/src/workers/open-worker-store.js';

/** A worker as the module makes it, with its parts in sight. */
export interface OpenedWorker {
  readonly worker: Worker;
  readonly ids: SnowflakeGenerator;
}

/**
 * Makes a worker and starts it.
 * @param dressed puts something around the store
 * @param listener hears of everything from the start on
 */
export async function openWorker(
  options: SnowflakeModuleOptions,
  dressed: (store: WorkerStore) => WorkerStore = (store) => store,
  listener: (event: LeaseEvent) => void = () => {},
): Promise<OpenedWorker> {
  const resolved = resolveSnowflakeOptions(options, Date.now());
  const ports = systemPorts(resolved.clock);
  const store = openWorkerStore(resolved, undefined, () => ports.clock.refresh());
  const worker = leaseWorker(resolved, { store: dressed(store), ports });
  worker.onEvent(listener);
  const { layout, generator } = resolved;
  const ids = new SnowflakeGenerator({ layout: layout.layout, tenure: worker, options: generator }, ports);
  worker.setHighestIssued((lane) => ids.highest(worker, lane));
  await worker.start();
  return { worker, ids };
}
