import type { AddressInfo } from 'node:net';
import { createService } from '../../../apps/id-service/src/create-service.js';
import type { ServiceDatabase } from '../../../apps/id-service/src/database/open-database.js';
import { ANSWER_MS, CONNECTION_MS } from '../../../apps/id-service/src/database/open-database.js';
import { readServiceConfig } from '../../../apps/id-service/src/service-config.js';
import { FlakyProxy } from '../../support/proxies/flaky-proxy.js';
import { databaseKinds, testDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';

const KEY = 'k'.repeat(32);
/** Of each route at once: the pool has ten connections. */
const AT_ONCE = 30;

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  /** What it says while the database is silent. */
  readonly says: readonly string[];
  /** Whether what was had from the database before may still be its answer. */
  readonly hasMemory?: boolean;
}

const AWAY = ['DATABASE_UNAVAILABLE'];
const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/v1/business-numbers', body: { series: 'invoice' }, says: AWAY },
  { method: 'POST', path: '/v1/business-numbers', body: { series: 'credit-note', tenant: 'acme' }, says: AWAY },
  { method: 'POST', path: '/v1/numbers/order?count=10000', says: ['WAIT_TIMEOUT'], hasMemory: true },
  { method: 'GET', path: '/v1/workers', says: ['DATABASE_CALL_FAILED'], hasMemory: true },
];

it('the service gives up a silent database before five seconds have passed', () => {
  expect(CONNECTION_MS + ANSWER_MS).toBeLessThan(5_000);
});

describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('An ID service whose %s has fallen silent', (kind) => {
  it('answers every route in time, typed, and is whole again with the database', async () => {
    const database = await testDatabase(kind);
    const { host, port } = database.options as { host: string; port: number };
    const proxy = await FlakyProxy.start({ host, port });
    const config = readServiceConfig({ API_KEYS: KEY, RAINDROP_MAX_WORKER_ID: '5' });
    const options = { ...database.options, port: proxy.port } as unknown as ServiceDatabase;
    const app = await createService({ ...config, database: options });
    await app.listen(0, '127.0.0.1');
    const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;

    const ask = async ({
      method,
      path,
      body,
    }: Omit<Route, 'says'>): Promise<{ status: number; errorCode?: string }> => {
      const headers = { authorization: `Bearer ${KEY}`, ...(body && { 'content-type': 'application/json' }) };
      const answer = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      return { status: answer.status, ...((await answer.json()) as { errorCode?: string }) };
    };
    const isWell = async (): Promise<boolean> => {
      const answers = await Promise.all(ROUTES.map(ask));
      return answers.every(({ status }) => status < 300);
    };
    await until('every route to be well', isWell);

    proxy.silenceAfter(0);
    const asked = ROUTES.map(async (route) => {
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(route)));
      for (const { status, errorCode } of answers) {
        if (route.hasMemory === true && status < 300) continue;
        expect({ status, path: route.path }).toEqual({ status: 503, path: route.path });
        expect(route.says).toContain(errorCode);
      }
    });
    let isAnswered = false;
    const answered = Promise.all(asked).finally(() => (isAnswered = true));
    // IDs are issued from memory all the while.
    expect(await ask({ method: 'POST', path: '/v1/ids?count=1000' })).toMatchObject({ status: 201 });
    await until('every request to be answered', () => isAnswered);
    await answered;

    proxy.recover();
    await until('every route to be well again', isWell);
    await app.close();
    await proxy.stop();
    await database.drop();
  });
});
