import { DataSource } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../servers/test-databases.js';
import { databaseUrl, startDemo, type DemoProcess, type DemoProcessOptions } from './demo-process.js';

const BATCH = 10_000;
const BATCHES = 10;

describe.each(databaseKinds)('Demo processes on %s', (kind) => {
  let database: TestDatabase;
  const running: DemoProcess[] = [];

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(async () => {
    await Promise.all(running.splice(0).map((demo) => demo.stop('SIGKILL')));
    await database.drop();
  });

  const start = async (environment: DemoProcessOptions['environment'] = {}): Promise<DemoProcess> => {
    const demo = await startDemo({ databaseUrl: databaseUrl(database.options), environment });
    running.push(demo);
    return demo;
  };

  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const dataSource = await new DataSource(database.options).initialize();
    try {
      return await dataSource.query(sql);
    } finally {
      await dataSource.destroy();
    }
  };

  const heldWorkers = async (): Promise<number[]> => {
    const rows = await query(`SELECT id FROM soc_raindrop_worker WHERE token <> '' ORDER BY id`);
    return rows.map(({ id }) => Number(id));
  };

  it('hold different workers, and 200,000 IDs from two of them have no duplicate', async () => {
    const demos = [await start(), await start()];
    const workers = await Promise.all(demos.map(workerOf));
    expect(new Set(workers).size).toBe(2);
    expect(await heldWorkers()).toEqual([...workers].sort((a, b) => a - b));

    const ids = (await Promise.all(demos.map(issueMany))).flat();
    expect(ids).toHaveLength(2 * BATCH * BATCHES);
    expect(new Set(ids).size).toBe(ids.length);
  }, 60_000);

  it("start four at a time on an empty database, and serve each other's orders", async () => {
    const demos = await Promise.all([start(), start(), start(), start()]);
    expect(new Set(await Promise.all(demos.map(workerOf))).size).toBe(4);
    const migrations = await query('SELECT DISTINCT name FROM migrations');
    expect(migrations).toEqual([{ name: 'CreateOrders1767225600000' }]);

    const orders = await Promise.all(demos.flatMap((demo) => Array.from({ length: 10 }, () => placeOrder(demo))));
    expect(new Set(orders.map(({ status }) => status))).toEqual(new Set([201]));
    const ids = orders.flatMap(({ order }) => [order.id, ...order.items.map(({ id }) => id)]);
    expect(new Set(ids).size).toBe(orders.length * 4);
    for (const [index, { order }] of orders.entries()) {
      const answer = await fetch(`${demos[index % 4]!.url}/v1/orders/${order.id}`);
      expect(await answer.json()).toEqual(order);
    }
  }, 60_000);

  it('give their worker back on Ctrl-C and on SIGTERM, at once, for the next to take', async () => {
    const only = { RAINDROP_MIN_WORKER_ID: '7', RAINDROP_MAX_WORKER_ID: '7' };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const demo = await start(only);
      expect(await workerOf(demo)).toBe(7);
      expect(await heldWorkers()).toEqual([7]);
      const exit = await demo.stop(signal);
      expect(exit).toMatchObject({ code: 0, signal: null });
      expect(exit.tookMs).toBeLessThan(5_000);
      expect(await heldWorkers()).toEqual([]);
    }
  }, 60_000);

  it('say one line, with worker, layout, expiry and where to click', async () => {
    const demo = await start({ RAINDROP_MAX_WORKER_ID: '3' });
    await demo.stop();
    expect(demo.output()).toMatch(
      /^Raindrop demo: worker [1-3] of 1\.\.3, layout \S+; IDs until 2298-\d\d-\d\d; click http:\/\/127\.0\.0\.1:\d+\/docs\n$/,
    );
  });

  it('do not start when every worker is taken, and say what to do', async () => {
    const only = { RAINDROP_MAX_WORKER_ID: '1' };
    await start(only);
    await expect(start(only)).rejects.toThrow(/ended with 1; it printed:\nNo free worker id among 1: 1 held/);
  });
});

describe('A demo process that cannot start', () => {
  it.each([
    ['a wrong environment', { PORT: '70000' }, /Raindrop is configured wrongly:\n {2}- PORT = "70000": must be/],
    [
      'a database that does not answer',
      { DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/none' },
      /The demo cannot start: .*ECONNREFUSED.* \(database: postgres:\/\/127\.0\.0\.1:9\/none\)/,
    ],
  ])('says why in one message: %s', async (_, environment, message) => {
    const failure = await startDemo({ environment }).catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toMatch(/secret|\n {4}at /);
  });

  it('gives its worker back when the port is taken', async () => {
    const database = await testDatabase('sqlite');
    const url = databaseUrl(database.options);
    const first = await startDemo({ databaseUrl: url });
    try {
      const environment = { PORT: new URL(first.url).port, RAINDROP_MAX_WORKER_ID: '2' };
      await expect(startDemo({ databaseUrl: url, environment })).rejects.toThrow(/EADDRINUSE/);
      const second = await startDemo({ databaseUrl: url, environment: { RAINDROP_MAX_WORKER_ID: '2' } });
      expect((await second.stop()).code).toBe(0);
    } finally {
      await first.stop();
      await database.drop();
    }
  });
});

interface Order {
  readonly id: string;
  readonly items: readonly { readonly id: string }[];
}

async function issue(demo: DemoProcess, count: number): Promise<string[]> {
  const answer = await fetch(`${demo.url}/v1/ids?count=${count}`, { method: 'POST' });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { ids: string[] }).ids;
}

async function issueMany(demo: DemoProcess): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = 0; batch < BATCHES; batch++) ids.push(...(await issue(demo, BATCH)));
  return ids;
}

async function workerOf(demo: DemoProcess): Promise<number> {
  const [id] = await issue(demo, 1);
  const answer = await fetch(`${demo.url}/v1/ids/${id}`);
  return ((await answer.json()) as { workerId: number }).workerId;
}

async function placeOrder(demo: DemoProcess): Promise<{ status: number; order: Order }> {
  const items = ['tea', 'mug', 'spoon'].map((sku) => ({ sku, quantity: 1 }));
  const answer = await fetch(`${demo.url}/v1/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ customer: 'Ada 李 🙂', items }),
  });
  return { status: answer.status, order: (await answer.json()) as Order };
}
