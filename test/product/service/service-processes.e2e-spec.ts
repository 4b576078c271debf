import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { databaseUrl, startServiceProcess, type ServiceProcess } from './service-process.js';

const BATCH = 10_000;
const BATCHES = 10;

/** As many as there are processes at once: the next one has to wait for one of them to end. */
const PROCESSES = 4;
const WORKERS = { RAINDROP_MIN_WORKER_ID: '7', RAINDROP_MAX_WORKER_ID: '10' };
const WORKER_IDS = [7, 8, 9, 10];

/** Each test goes on where the one before has ended: a process takes a second to start. */
describe.each(databaseKinds)('Processes of the ID service on %s', (kind) => {
  let database: TestDatabase;
  let services: ServiceProcess[] = [];

  beforeAll(async () => {
    database = await testDatabase(kind);
    services = await Promise.all(Array.from({ length: PROCESSES }, start));
  });

  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop('SIGKILL')));
    await database?.drop();
  });

  const start = (): Promise<ServiceProcess> =>
    startServiceProcess({ databaseUrl: databaseUrl(database.options), environment: WORKERS });

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

  it('start four at a time on an empty database, each with a worker of its own', async () => {
    expect((await Promise.all(services.map(workerOf))).sort((a, b) => a - b)).toEqual(WORKER_IDS);
    expect(await heldWorkers()).toEqual(WORKER_IDS);
  });

  it('issue 200,000 IDs, two of them, without a duplicate', async () => {
    const ids = (await Promise.all(services.slice(0, 2).map(issueMany))).flat();
    expect(ids).toHaveLength(2 * BATCH * BATCHES);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('count one series of business numbers together, without a gap', async () => {
    const numbers = await Promise.all(
      services.flatMap((service) => Array.from({ length: 10 }, () => nextInvoice(service))),
    );
    const expected = Array.from({ length: numbers.length }, (_, index) => index + 1);
    expect(numbers.sort((a, b) => a - b)).toEqual(expected);
  });

  it('do not start when every worker is taken, and say what to do', async () => {
    await expect(start()).rejects.toThrow(/ended with 1; it printed:\nNo free worker id among 4: 4 held/);
  });

  /** Ctrl-C or an orchestrator's: the same on every database. */
  const signal = kind === 'postgres' ? 'SIGINT' : 'SIGTERM';

  it(`give their worker back on ${signal}, at once, for the next to take`, async () => {
    const service = services.shift()!;
    const workerId = await workerOf(service);
    const exit = await service.stop(signal);
    expect(exit).toMatchObject({ code: 0, signal: null });
    expect(await heldWorkers()).toEqual(WORKER_IDS.filter((id) => id !== workerId));
    const next = await start();
    services.push(next);
    expect(await workerOf(next)).toBe(workerId);
  });
});

/** All that is printed: worker, layout, expiry and where to click. */
const LINE =
  /^Raindrop: worker \d+ of 1\.\.64, layout \S+; IDs until 2298-\d\d-\d\d; click http:\/\/127\.0\.0\.1:\d+\/\n$/;

describe('An ID service process that cannot start', () => {
  it.each([
    ['a wrong environment', { PORT: '70000' }, /Invalid Raindrop configuration:\n {2}- PORT = "70000": must be/],
    [
      'a database that does not answer',
      { DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/none' },
      /The service cannot start: .*ECONNREFUSED.* \(database: postgres:\/\/127\.0\.0\.1:9\/none\)/,
    ],
    [
      'an address of another host',
      { HOST: '192.0.2.1' },
      /^The service cannot start: listen EADDRNOTAVAIL: .*192\.0\.2\.1.*: set HOST to an address of this machine$/m,
    ],
  ])('says why in one message: %s', async (_, environment, message) => {
    const failure = await startServiceProcess({ environment }).catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).not.toMatch(/secret|\n {4}at /);
  });

  it('names its own variable where the layout that the table remembers has fewer workers', async () => {
    const database = await testDatabase('sqlite');
    const folder = mkdtempSync(join(tmpdir(), 'raindrop-secret-'));
    const file = join(folder, 'database-url');
    writeFileSync(file, `${databaseUrl(database.options)}\n`);
    const more = { DATABASE_URL_FILE: file };
    const first = await startServiceProcess({ environment: { ...more, LAYOUT: 'number' } });
    await first.stop();
    expect(first.output()).toContain('layout 1000@1767225600:t30.w8.b1.s13.e1=0;');
    await expect(startServiceProcess({ environment: { ...more, RAINDROP_MAX_WORKER_ID: '300' } })).rejects.toThrow(
      /ended with 1; it printed:\nInvalid Raindrop configuration:\n {2}- RAINDROP_MAX_WORKER_ID = 300: is out of range/,
    );
    rmSync(folder, { recursive: true });
    await database.drop();
  });

  it('gives its worker back when the port is taken; one that can says one line', async () => {
    const database = await testDatabase('sqlite');
    const url = databaseUrl(database.options);
    const first = await startServiceProcess({ databaseUrl: url });
    try {
      const environment = { PORT: new URL(first.url).port, RAINDROP_MAX_WORKER_ID: '2' };
      await expect(startServiceProcess({ databaseUrl: url, environment })).rejects.toThrow(
        /^The service cannot start: listen EADDRINUSE: .*: set PORT to a free port$/m,
      );
      const second = await startServiceProcess({ databaseUrl: url, environment: { RAINDROP_MAX_WORKER_ID: '2' } });
      expect((await second.stop()).code).toBe(0);
    } finally {
      await first.stop();
      expect(first.output()).toMatch(LINE);
      await database.drop();
    }
  });
});

async function issue(service: ServiceProcess, count: number): Promise<string[]> {
  const answer = await fetch(`${service.url}/v1/ids?count=${count}`, { method: 'POST' });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { ids: string[] }).ids;
}

async function issueMany(service: ServiceProcess): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = 0; batch < BATCHES; batch++) ids.push(...(await issue(service, BATCH)));
  return ids;
}

async function workerOf(service: ServiceProcess): Promise<number> {
  const [id] = await issue(service, 1);
  const answer = await fetch(`${service.url}/v1/ids/${id}`);
  return ((await answer.json()) as { workerId: number }).workerId;
}

async function nextInvoice(service: ServiceProcess): Promise<number> {
  const answer = await fetch(`${service.url}/v1/business-numbers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ series: 'invoice' }),
  });
  expect(answer.status).toBe(201);
  return Number(((await answer.json()) as { number: string }).number.slice(-6));
}
