import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { SwaggerModule } from '@nestjs/swagger';
import Database from 'better-sqlite3';
import { openService, type OpenService } from './open-service.js';

/** What a request may take of the event loop in one piece, beside what SQLite takes, which answers in the same thread. */
const LONGEST_MS = 50;

/** A turn in which V8 compiles or collects is no fault of the route: the best of so many tries counts. */
const TRIES = 5;
const HOPELESS_MS = 500;

const CODES = Array.from({ length: 500 }, (_, index) => `${'code-of-'.repeat(15)}${index}`);
/** As many members, and as many values in all, as an input may have. */
const WRONG = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`unknown-${index}`, Array(7).fill(0)]));
const LAYOUT = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
const NEEDS = { processes: 1_000, idsPerSecond: 100_000, years: 30, numbers: true };

interface Request {
  readonly path: string;
  readonly body?: object;
  /** Where it is not 200 or 201. */
  readonly status?: number;
}

/** The dearest legal requests of each route, and the dearest one that it has to read to refuse it. */
const DEAREST: Readonly<Record<string, readonly Request[]>> = {
  'POST /v1/ids': ['decimal', 'base58', 'base64url'].map((format) => ({ path: `?count=10000&format=${format}` })),
  'POST /v1/ids/stream': [{ path: '?count=50000' }, { path: '?count=50000&format=base58' }],
  'GET /v1/ids/{id}': [{ path: '/30077675337940992' }, { path: `/${'9'.repeat(10_000)}`, status: 400 }],
  'POST /v1/numbers/{code}': [{ path: '/order?count=10000' }],
  'POST /v1/sharded-ids': [{ path: '', body: { app: 1, gatePass: 'x'.repeat(512) } }],
  'POST /v1/business-numbers': [
    { path: '', body: { series: 'invoice', tenant: 'x'.repeat(64) } },
    { path: '', body: WRONG, status: 400 },
  ],
  'POST /v1/layouts/plan': [{ path: '', body: LAYOUT }],
  'POST /v1/layouts/advice': [{ path: '', body: NEEDS }],
  'GET /v1/presets': [{ path: '' }],
  'GET /v1/status': [{ path: '' }],
  'GET /v1/workers': [{ path: '' }],
  'GET /health': [{ path: '' }],
  'GET /health/live': [{ path: '' }],
  'GET /health/ready': [{ path: '' }],
  'GET /metrics': [{ path: '' }],
  'GET /docs': [{ path: '' }],
  'GET /docs-json': [{ path: '' }],
  'GET /': [{ path: '' }],
};

describe("Every route's dearest request", () => {
  let service: OpenService;
  let sqliteMs = 0;

  beforeAll(async () => {
    measureSqlite();
    service = await openService({
      KNOWN_CODES: CODES.join(),
      RAINDROP_MIN_WORKER_ID: '0',
      RAINDROP_MAX_WORKER_ID: '1023',
    });
    for (const code of CODES) await ask('POST', `/v1/ids?code=${code}`);
  });

  afterAll(async () => {
    jest.restoreAllMocks();
    await service.close();
  });

  /** Has {@link sqliteMs} count the time in statements. */
  const measureSqlite = (): void => {
    const database = new Database(':memory:');
    const statement = Object.getPrototypeOf(database.prepare('SELECT 1')) as Database.Statement;
    database.close();
    for (const name of ['all', 'get', 'run'] as const) {
      const run = statement[name];
      jest.spyOn(statement, name).mockImplementation(function (this: Database.Statement, ...given: unknown[]) {
        const begin = process.cpuUsage();
        try {
          return run.apply(this, given);
        } finally {
          sqliteMs += msSince(begin);
        }
      });
    }
  };

  const ask = async (method: string, path: string, body?: object): Promise<{ status: number }> => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const asked = request(service.url + path, { method, headers }).end(body && JSON.stringify(body));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    // The client is in the same thread: it takes no answer apart.
    await once(answer.resume(), 'end');
    return { status: answer.statusCode! };
  };

  /** The most that one turn of the event loop took meanwhile, ms of this process's time on a processor, without SQLite's. */
  const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
    let isOver = false;
    const working = work().finally(() => (isOver = true));
    let longest = 0;
    while (!isOver) {
      const [begin, sqliteBefore] = [process.cpuUsage(), sqliteMs];
      await turn();
      longest = Math.max(longest, msSince(begin) - (sqliteMs - sqliteBefore));
    }
    await working;
    return longest;
  };

  it('finds the description of the API made', async () => {
    const making = jest.spyOn(SwaggerModule, 'createDocument');
    expect((await fetch(`${service.url}/docs-json`)).status).toBe(200);
    expect(making).not.toHaveBeenCalled();
  });

  it('is known here', async () => {
    const { paths } = (await (await fetch(`${service.url}/docs-json`)).json()) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(Object.keys(DEAREST).sort()).toEqual([...routes, 'GET /', 'GET /docs', 'GET /docs-json'].sort());
  });

  it.each(Object.entries(DEAREST).flatMap(([route, all]) => all.map((each) => [route, each] as const)))(
    'of %s stops the event loop for less than 50 ms: %#',
    async (route, { path, body, status }) => {
      const [method, at] = route.split(' ') as [string, string];
      const address = at.replace(/\/\{\w+\}$/, '') + path;
      const asked = async (): Promise<void> => {
        const answer = await ask(method, address, body);
        expect(status === undefined ? answer.status < 300 : answer.status === status).toBe(true);
      };
      let best = await longestTurn(asked);
      for (let tries = 1; tries < TRIES && best >= LONGEST_MS && best < HOPELESS_MS; tries++) {
        best = Math.min(best, await longestTurn(asked));
      }
      expect(best).toBeLessThan(LONGEST_MS);
    },
  );
});

/** What this process has had of the processors, however many others it shares them with. */
function msSince(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1_000;
}
