import { SnowflakeGenerator } from '@raindrop/core/internal';
import type { LeaseEvent, WorkerStore } from '@raindrop/core';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { LeasedWorker } from '../../../libs/node/src/workers/leased-worker.js';
import { resolveSnowflakeOptions } from '../../../libs/node/src/options/resolve-options.js';
import { systemPorts } from '../../../libs/node/src/system/system-ports.js';
import { openWorkerStore } from '../../../libs/node/src/workers/open-worker-store.js';

/** A worker as the module makes it, with its parts in sight. */
export interface OpenedWorker {
  readonly worker: LeasedWorker;
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
  const worker = new LeasedWorker('database', 'reserved', resolved, dressed(store), ports);
  worker.onEvent(listener);
  const { layout, generator } = resolved;
  const ids = new SnowflakeGenerator({ layout: layout.layout, tenure: worker.tenure, options: generator }, ports);
  await worker.start(ids);
  return { worker, ids };
}
