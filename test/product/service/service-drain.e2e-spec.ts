import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { TcpProxy } from '../../support/proxies/tcp-proxy.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { databaseUrl, startServiceProcess, type ServiceProcess } from './service-process.js';

const DRAIN_MS = 3_000;

describe('A service that is told to end', () => {
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeEach(async () => {
    database = await testDatabase('sqlite');
  });

  afterEach(async () => {
    await service.stop('SIGKILL');
    await database.drop();
  });

  const start = async (environment: Record<string, string>): Promise<void> => {
    service = await startServiceProcess({ databaseUrl: databaseUrl(database.options), environment });
  };
  const status = async (path: string, method = 'GET'): Promise<number> =>
    (await fetch(`${service.url}${path}`, { method })).status;

  /** Waits for the first no of its readiness: before it closes, for then there would be no answer at all. */
  const notReady = (): Promise<boolean> =>
    until('it not to be ready', async () => (await status('/health/ready')) !== 200);

  it('is not ready at once, serves for DRAIN_MS, and then ends well', async () => {
    await start({ DRAIN_MS: String(DRAIN_MS) });
    expect(await status('/health/ready')).toBe(200);
    const begin = performance.now();
    const stopped = service.stop('SIGTERM');
    await notReady();
    const report = await (await fetch(`${service.url}/health/ready`)).json();
    expect(report).toMatchObject({
      status: 'error',
      details: { raindrop: { status: 'up' }, shutdown: { status: 'down', message: 'the service is shutting down' } },
    });
    expect(await status('/health/live')).toBe(200);
    const served: number[] = [];
    let lastAt = 0;
    await until('no client to be there', async () => {
      const answer = await status('/v1/ids?count=10', 'POST').catch(noServer);
      if (answer === undefined) return true;
      served.push(answer);
      lastAt = performance.now() - begin;
      return false;
    });
    expect(new Set(served)).toEqual(new Set([201]));
    expect(lastAt).toBeGreaterThan(DRAIN_MS / 3);
    const exit = await stopped;
    expect(exit).toMatchObject({ code: 0, signal: null });
    expect(exit.tookMs).toBeGreaterThan(DRAIN_MS - 100);
  });

  it('resets no request that it is sent, unless it is told not to wait', async () => {
    // As it is without configuration.
    await start({ DRAIN_MS: '' });
    const agent = new Agent({ keepAlive: true });
    const answers: string[] = [];
    let [isRefused, isOver] = [false, false];
    const ask = (): Promise<string> =>
      new Promise((settle) => {
        const asked = request(`${service.url}/v1/ids?count=10`, { method: 'POST', agent }, (answer) => {
          answer.resume().once('end', () => settle(String(answer.statusCode)));
          answer.once('error', ({ message }) => settle(message));
        });
        asked.once('error', (error: NodeJS.ErrnoException) => settle(error.code ?? error.message)).end();
      });
    const client = async (): Promise<void> => {
      while (!isRefused && !isOver) {
        const answer = await ask();
        if (answer === 'ECONNREFUSED') isRefused = true;
        else answers.push(answer);
      }
    };
    const clients = Array.from({ length: 20 }, client);
    await until('some answers', () => answers.length > 500);
    const { code } = await service.stop('SIGTERM');
    isOver = true;
    await Promise.all(clients);
    agent.destroy();
    expect(code).toBe(0);
    expect([...new Set(answers)]).toEqual(['201']);
  });

  it('answers clients that are still connected, with IDs or not at all', async () => {
    await start({ DRAIN_MS: '200' });
    const ids: string[] = [];
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver) {
        try {
          const answer = await fetch(`${service.url}/v1/ids?count=100`, { method: 'POST' });
          expect(answer.status).toBe(201);
          ids.push(...((await answer.json()) as { ids: string[] }).ids);
        } catch (error) {
          noServer(error);
          await turn();
        }
      }
    };
    const clients = [client(), client(), client(), client()];
    await until('some IDs', () => ids.length > 1_000);
    const { code } = await service.stop('SIGTERM');
    isOver = true;
    await Promise.all(clients);
    expect(code).toBe(0);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('answers what is under way, gives its worker back, and takes a second signal calmly', async () => {
    await start({ DRAIN_MS: String(DRAIN_MS), RAINDROP_MAX_WORKER_ID: '1' });
    // 262,144 IDs a second and code: it is under way when the drain is over.
    const answer = await fetch(`${service.url}/v1/ids/stream?count=3000000`, { method: 'POST' });
    const body = answer.text();
    const slow = await slowNumber(service.url);
    const stopped = service.stop('SIGTERM');
    await notReady();
    process.kill(service.pid, 'SIGTERM');
    process.kill(service.pid, 'SIGINT');
    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 201 /);
    const lines = (await body).trim().split('\n');
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ error: { status: 503, errorCode: 'SHUTTING_DOWN' } });
    expect(new Set(lines).size).toBe(lines.length);
    expect(await stopped).toMatchObject({ code: 0, signal: null });
    expect(service.output().trim().split('\n')).toHaveLength(1);
    // There is one worker id only: it was given back.
    await start({ RAINDROP_MAX_WORKER_ID: '1' });
  });

  it('ends well when it is told so during its start, and gives its worker back', async () => {
    const mariadb = await testDatabase('mariadb');
    const { port } = mariadb.options as { port: number };
    // Between the service and its database: the first connection waits until the signal has been sent.
    let pid = 0;
    class Gate extends TcpProxy {
      protected override join(client: Socket): void {
        if (pid !== 0) process.kill(pid, 'SIGTERM');
        pid = 0;
        this.lead(client);
      }
    }
    const gate = await Gate.start({ host: '127.0.0.1', port });
    const url = databaseUrl({ ...mariadb.options, port: gate.port } as DataSourceOptions);
    try {
      const started = startServiceProcess({ databaseUrl: url, onSpawn: (id) => (pid = id) });
      await expect(started).rejects.toThrow(/ended with 0; it printed:\n$/);
      const source = await new DataSource(mariadb.options).initialize();
      const held = await source.query<object[]>(`SELECT id FROM soc_raindrop_worker WHERE token <> ''`);
      await source.destroy();
      expect(held).toEqual([]);
    } finally {
      await gate.stop();
      await mariadb.drop();
    }
  });

  it('waits for no client that reads nothing', async () => {
    await start({});
    const reader = await fetch(`${service.url}/v1/ids/stream?count=10000000`, { method: 'POST' });
    await until('IDs that no client reads', async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      const counts = [...metrics.matchAll(/^raindrop_ids_issued_total\{.*\} (\d+)$/gm)];
      return counts.some(([, count]) => Number(count) > 100_000);
    });
    const { code, signal } = await service.stop('SIGTERM');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    await reader.body!.cancel().catch(() => undefined);
  });

  it('logs in lines of JSON when it is told to', async () => {
    await start({ LOG_FORMAT: 'json', RAINDROP_MAX_WORKER_ID: '3' });
    await service.stop();
    const lines = service
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'log',
      context: 'IdService',
      message: expect.stringMatching(/^Raindrop: worker [1-3] of 1\.\.3, /) as string,
    });
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['a wrong environment', { PORT: 'x', LOG_FORMAT: 'JSON ' }, /^Invalid Raindrop configuration:\n {2}- PORT/],
    [
      'no database',
      { DATABASE_URL: 'postgres://u:secret@127.0.0.1:9/none' },
      /^The service cannot start: .*ECONNREFUSED/,
    ],
  ])('logs in lines of JSON why it cannot start: %s', async (_, environment, reason) => {
    const failure = await failureOf({ LOG_FORMAT: 'json', ...environment });
    const [head, ...printed] = failure.trim().split('\n');
    expect(head).toContain('ended with 1');
    const entries = printed.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(entries.at(-1)).toMatchObject({ level: 'fatal', message: expect.stringMatching(reason) as string });
    expect(failure).not.toContain('secret');
  });
});

/** No server any more; everything else is a failure. */
function noServer(error: unknown): undefined {
  if ((error as Error).name !== 'TypeError') throw error;
}

/** A request for a business number whose second half is sent when `finish` is called, which returns the answer. */
async function slowNumber(url: string): Promise<{ finish(): Promise<string> }> {
  const body = JSON.stringify({ series: 'invoice', tenant: 'acme' });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  const head = [
    'POST /v1/business-numbers HTTP/1.1',
    'host: localhost',
    'content-type: application/json',
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`);
  return {
    finish: async () => {
      socket.write(body.slice(10));
      let answer = '';
      for await (const chunk of socket) answer += String(chunk as Buffer);
      return answer;
    },
  };
}

/** Why a service did not start. */
async function failureOf(environment: Record<string, string>): Promise<string> {
  try {
    await (await startServiceProcess({ environment })).stop();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it started');
}
