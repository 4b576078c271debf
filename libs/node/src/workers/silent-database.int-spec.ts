import { FlakyProxy } from '../../../../test/support/proxies/flaky-proxy.js';
import { openStore } from '../../../../test/support/stores/open-store.js';
import { OPTIONS } from '../../../../test/support/module/module-fixture.js';
import { startVolatileRedis } from '../../../../test/support/redis/volatile-redis.js';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { redisWorkers } from '../redis/worker-store/redis-workers.js';
import { resolveSnowflakeOptions } from '../options/resolve-options.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import { systemPorts } from '../system/system-ports.js';
import { openWorker } from './open-worker.js';
import { fenceWorkers } from './fence-workers.js';
import { readWorkers } from './read-workers.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';

/** Bytes of what a connection says: nothing, a part of the greetings, all but the answer, a part of that. */
const SILENT_AFTER = [0, 60, 120, 200, 300, 400, 500, 600, 800, 1_000];

/** Nothing ends by itself within the test. */
const PATIENT = { heartbeatIntervalMs: 5_000, opTimeoutMs: 50_000 };

const CALLS = [readWorkers, fenceWorkers] as const;

/** How a call ended: with the code of an error, or well. */
function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  let outcome: unknown;
  call.then(
    () => (outcome = 'well'),
    (error: unknown) => (outcome = (error as { errorCode?: unknown }).errorCode),
  );
  return until('the end of the call', () => outcome);
}

/** A start that is under way, and how it is called off. */
async function startOf(given: SnowflakeModuleOptions): Promise<{ start: Promise<void>; close: () => Promise<void> }> {
  const options = resolveSnowflakeOptions(given, Date.now());
  const ports = systemPorts('exact');
  const makeCustom = (): never => {
    throw new Error('no assigner of the application is asked for');
  };
  const { worker } = await openWorker({ options, ports, database: undefined, makeCustom, onEvent: () => undefined });
  return { start: worker.start(), close: () => worker.close() };
}

overBothPorts(() => {
  describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('with a %s that falls silent', (kind) => {
    it.each(CALLS.map((call) => [call.name, call] as const))('%s fails in time, wherever that is', async (_, call) => {
      const database = await testDatabase(kind);
      const { host, port } = database.options as { host: string; port: number };
      const store = openStore(database.options);
      await store.prepare({ min: 1, max: 31 });
      await store.close();
      let failed = 0;
      const tries = SILENT_AFTER.map(async (bytes) => {
        const proxy = await FlakyProxy.start({ host, port });
        const dbConfig = sqlDatabase({ ...database.options, port: proxy.port });
        proxy.silenceAfter(bytes);
        const outcome = await outcomeOf(call({ ...OPTIONS, dbConfig, opTimeoutMs: 500 }));
        if (outcome === 'DATABASE_CALL_FAILED') failed++;
        else expect(outcome).toBe('well');
        // Once the fence is there, what comes after it is only reported.
        if (outcome === 'well' && call !== fenceWorkers) expect(proxy.swallowed).toBe(0);
        await until('no connection to be left', () => proxy.open === 0);
        await proxy.stop();
      });
      await Promise.all(tries);
      expect(failed).toBeGreaterThan(3);
      await database.drop();
    });

    it('a start is ended by close(), however long its calls may take', async () => {
      const database = await testDatabase(kind);
      const { host, port } = database.options as { host: string; port: number };
      const tries = SILENT_AFTER.map(async (bytes) => {
        const proxy = await FlakyProxy.start({ host, port });
        proxy.silenceAfter(bytes);
        const dbConfig = sqlDatabase({ ...database.options, port: proxy.port });
        const { start, close } = await startOf({ ...OPTIONS, ...PATIENT, dbConfig });
        const started = outcomeOf(start);
        await until('the silence', () => proxy.swallowed > 0);
        expect(await outcomeOf(close())).toBe('well');
        expect(await started).toBe('CLOSED');
        await until('no connection to be left', () => proxy.open === 0);
        await proxy.stop();
      });
      await Promise.all(tries);
      await database.drop();
    });
  });

  describe('with a Redis that falls silent', () => {
    it.each(CALLS.map((call) => [call.name, call] as const))('%s fails in time', async (_, call) => {
      const server = await startVolatileRedis();
      const proxy = await FlakyProxy.start({ host: '127.0.0.1', port: server.port });
      const connection = `redis://127.0.0.1:${proxy.port}`;
      const options: SnowflakeModuleOptions = { ...OPTIONS, workerIdAssigner: redisWorkers({ connection }) };
      proxy.silenceAfter(0);
      expect(await outcomeOf(call({ ...options, opTimeoutMs: 500 }))).toBe('REDIS_UNAVAILABLE');
      await proxy.stop();
      await server.stop();
    });
  });
});
