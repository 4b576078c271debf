import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase, type TestDatabase } from '../servers/test-databases.js';
import { databaseUrl, startDemo, type DemoProcess } from './demo-process.js';

const DRAIN_MS = 2_000;

describe('A service that is told to end', () => {
  let database: TestDatabase;
  let demo: DemoProcess;

  beforeEach(async () => {
    database = await testDatabase('sqlite');
  });

  afterEach(async () => {
    await demo.stop('SIGKILL');
    await database.drop();
  });

  const start = async (environment: Record<string, string>): Promise<void> => {
    demo = await startDemo({ databaseUrl: databaseUrl(database.options), environment });
  };
  const status = async (path: string, method = 'GET'): Promise<number> =>
    (await fetch(`${demo.url}${path}`, { method })).status;

  it('is not ready at once, serves for DRAIN_MS, and then ends well', async () => {
    await start({ DRAIN_MS: String(DRAIN_MS) });
    expect(await status('/health/ready')).toBe(200);
    const begin = performance.now();
    const stopped = demo.stop('SIGTERM');
    while ((await status('/health/ready')) === 200) expect(performance.now() - begin).toBeLessThan(500);
    const report = await (await fetch(`${demo.url}/health/ready`)).json();
    expect(report).toMatchObject({
      status: 'error',
      details: { raindrop: { status: 'up' }, shutdown: { status: 'down', message: 'the service is shutting down' } },
    });
    expect(await status('/health/live')).toBe(200);
    let served = 0;
    for (; performance.now() - begin < DRAIN_MS - 300; served++) {
      expect(await status('/v1/ids?count=10', 'POST')).toBe(201);
      await sleep(20);
    }
    expect(served).toBeGreaterThan(10);
    const exit = await stopped;
    expect(exit).toMatchObject({ code: 0, signal: null });
    expect(exit.tookMs).toBeGreaterThan(DRAIN_MS - 100);
    expect(exit.tookMs).toBeLessThan(DRAIN_MS + 3_000);
  });

  it('answers whoever is still connected, with IDs or not at all', async () => {
    await start({ DRAIN_MS: '200' });
    const ids: string[] = [];
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver) {
        try {
          const answer = await fetch(`${demo.url}/v1/ids?count=100`, { method: 'POST' });
          expect(answer.status).toBe(201);
          ids.push(...((await answer.json()) as { ids: string[] }).ids);
        } catch (error) {
          // No server any more; everything else is a failure.
          if ((error as Error).name !== 'TypeError') throw error;
          await sleep(10);
        }
      }
    };
    const clients = [client(), client(), client(), client()];
    await sleep(300);
    const { code } = await demo.stop('SIGTERM');
    isOver = true;
    await Promise.all(clients);
    expect(code).toBe(0);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('waits for nobody who reads nothing', async () => {
    await start({});
    const reader = await fetch(`${demo.url}/v1/ids/stream?count=10000000`, { method: 'POST' });
    await sleep(500);
    const { code, signal } = await demo.stop('SIGTERM');
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    await reader.body!.cancel().catch(() => undefined);
  }, 40_000);

  it('logs in lines of JSON when it is told to', async () => {
    await start({ LOG_FORMAT: 'json', RAINDROP_MAX_WORKER_ID: '3' });
    await demo.stop();
    const lines = demo
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'log',
      context: 'Demo',
      message: expect.stringMatching(/^Raindrop demo: worker [1-3] of 1\.\.3, /) as string,
    });
  });
});
