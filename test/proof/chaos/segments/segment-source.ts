import 'reflect-metadata';
import type { AppSegmentStore, SegmentSource, SegmentStore } from '@raindrop/core';
import { IdService, type NumberService, RaindropModule, type SegmentBuffer } from '@raindrop/nestjs';
import { PORTS, sqlDatabase } from '../../../support/stores/sql-database.js';
import { SILENT, startApp } from '../../../support/module/start-app.js';
import { BrokenSources } from './broken-sources.js';
import type { Journal } from './journal.js';
import { openRedis } from './open-redis.js';
import {
  APP,
  BROKEN,
  KEYS,
  OP_TIMEOUT_MS,
  REDIS_KEYS,
  ROW_STEP,
  type Key,
  type SegmentOrders,
} from './segment-messages.js';
import { witnessed } from './witness.js';

/** A Nest application with the real module, whose every reservation is written down. SIGTERM shuts it down. */
export async function openSegments(orders: SegmentOrders, journal: Journal): Promise<NumberService> {
  const app = await startApp([
    RaindropModule.forRoot({
      idMode: 'numberSection',
      defaultCode: 'plain',
      codes: KEYS.filter((key) => !key.includes('_')),
      defaultStep: ROW_STEP,
      // Small steps in the control: a range in Redis that comes back is to be one in use.
      maxStep: orders.control ? 200 : 2_000,
      sharded: { apps: [{ id: APP, name: 'chaos', description: '' }] },
      asyncTimeoutMs: 500,
      opTimeoutMs: OP_TIMEOUT_MS,
      retryBaseMs: 20,
      retryMaxMs: 300,
      // Half of the processes reach it by the driver, half by TypeORM.
      dbConfig: sqlDatabase(orders.database, PORTS[process.pid % 2]),
      redis: witnessedBuffer(orders, journal),
      logger: SILENT,
    }),
  ]);
  app.enableShutdownHooks(['SIGTERM']);
  return app.get<NumberService>(IdService);
}

/** The way from the tables to who draws numbers, by way of Redis for some keys. */
function witnessedBuffer(orders: SegmentOrders, journal: Journal): SegmentBuffer {
  const redis = openRedis(orders);
  const broken = new BrokenSources(orders.database);
  if (orders.control) void broken.open().catch(() => undefined);
  const rowOf = (key: string, row: SegmentSource): SegmentSource => {
    const fault = orders.control ? BROKEN[key as Key] : undefined;
    if (fault === 'rolledBack') return broken.rolledBack(key, row);
    return fault === 'unguarded' ? broken.unguarded(key, row) : row;
  };
  const row = (key: string, source: SegmentSource): SegmentSource => witnessed(rowOf(key, source), 'row', key, journal);
  const run = (key: string, source: SegmentSource): SegmentSource => witnessed(source, 'run', key, journal);
  // The scope names the process's own proxy as the database; only the table is the same for all.
  const common = (scope: string): string => `chaos ${scope.split(' ').at(-1)}`;
  return {
    codes(store, scope, ports) {
      const rows = withSources(store, { source: (code) => row(code, store.source(code)) });
      const buffered = redis.codes(rows, common(scope), ports);
      const way = (code: string): SegmentStore => (REDIS_KEYS.includes(code) ? buffered : rows);
      return withSources(buffered, { source: (code) => run(code, way(code).source(code)) });
    },
    apps(store, scope, ports) {
      const sources = { source: (app: number, shard: number) => row(`${app}_${shard}`, store.source(app, shard)) };
      const rows = withClearing(withSources(store, sources), journal);
      const buffered = redis.apps(rows, common(scope), ports);
      const way = (key: string): AppSegmentStore => (REDIS_KEYS.includes(key) ? buffered : rows);
      const source = (app: number, shard: number): SegmentSource =>
        run(`${app}_${shard}`, way(`${app}_${shard}`).source(app, shard));
      return withSources(buffered, { source });
    },
  };
}

/** Writes down when the app was cleared out of Redis: between the look that finds it missing and its registration. */
function withClearing(store: AppSegmentStore, journal: Journal): AppSegmentStore {
  let isNew = false;
  return new Proxy(store, {
    get(target, name) {
      if (name === 'apps') {
        return async () => {
          const apps = await target.apps();
          isNew = !apps.some(({ id }) => id === APP);
          return apps;
        };
      }
      if (name === 'registerApp' && isNew) journal.add({ clearedAt: Date.now() });
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A store that has other sources. */
function withSources<Store extends { source: unknown }>(store: Store, { source }: Pick<Store, 'source'>): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'source') return source;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
