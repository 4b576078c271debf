import 'reflect-metadata';
import { IdService, openBackfill, type PastIds, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import { etcdWorkers } from '@raindrop/node/etcd';
import { natsWorkers } from '@raindrop/node/nats';
import { PORTS, sqlDatabase } from '../../support/stores/sql-database.js';
import { SILENT, startApp } from '../../support/module/start-app.js';
import { openRedis } from './engines/open-redis.js';
import { quickRedisWorkers } from './quick-redis-workers.js';
import type { IdSource, IdSourceEvents } from './id-source.js';
import type { IssuingOrders } from './issuing-messages.js';

/** A Nest application with the real module. SIGTERM shuts it down as it does in production. */
export async function openRaindrop(orders: IssuingOrders, events: IdSourceEvents): Promise<IdSource> {
  const options = {
    ...orders.layout,
    ...orders.lease,
    waitForWorkerMs: 3_600_000,
    asyncTimeoutMs: 500,
    maxHoldMs: 500,
  };
  const app = await startApp([RaindropModule.forRoot({ ...options, ...memoryOf(orders), logger: SILENT })]);
  app.enableShutdownHooks(['SIGTERM']);
  const ids = app.get(IdService);
  events.onTenure();
  ids.events.on('lease-regained', () => events.onTenure());
  ids.events.on('lease-trouble', ({ error }) => {
    if (error.errorCode === 'STORE_UNAVAILABLE') events.onStoreTrouble();
  });
  return ids;
}

/**
 * Reserves a stretch of the past on the processes' own table: on a row of theirs that is free, or on one of the others.
 * Undefined where the release does not know how.
 */
export function openPast(orders: IssuingOrders, from: number, to: number): Promise<PastIds> | undefined {
  const known = openBackfill as typeof openBackfill | undefined;
  const layout = { ...orders.layout, serviceMaxWorkId: 2 ** orders.layout.workIdLength - 1 };
  return known?.({ ...layout, ...orders.lease, ...memoryOf(orders), logger: SILENT, from, to, tables: [] });
}

/** Where the worker ids are kept. Half of the processes reach it by the driver, half by TypeORM. */
function memoryOf({ database: { type, ...connection } }: IssuingOrders): Partial<SnowflakeModuleOptions> {
  if (type === 'redis') return { workerIdAssigner: quickRedisWorkers({ connection: openRedis(connection) }) };
  if (type === 'etcd') return { workerIdAssigner: etcdWorkers({ endpoints: connection['endpoints'] as string[] }) };
  if (type === 'nats') return { workerIdAssigner: natsWorkers({ connection, syncAlways: true }) };
  return { dbConfig: sqlDatabase({ type, ...connection }, PORTS[process.pid % 2]) };
}
