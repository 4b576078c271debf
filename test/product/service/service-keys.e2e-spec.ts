import { IdService } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import { expectSince } from '../../support/expect-since.js';
import { openService, type OpenService } from './open-service.js';
import { until } from '../../support/until.js';
import { problemLike } from './problem-like.js';

const KEY = 'correct-horse-battery';
const WITH_KEY = { authorization: `Bearer ${KEY}` };

interface Worker {
  readonly workerId: number;
  readonly state: string;
  readonly holder: string;
  readonly leaseLeftMs: number | null;
}

describe('A service with API keys for the workers', () => {
  let service: OpenService;

  beforeAll(async () => {
    service = await openService({ API_KEYS: `another-key-0123456789,${KEY}`, API_KEYS_FOR: 'workers' });
  });

  afterAll(() => service.close());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${service.url}${path}`, { headers });

  it('shows the workers to who has one', async () => {
    const before = Date.now();
    const answer = await get('/v1/workers', WITH_KEY);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { nowMs, workers } = (await answer.json()) as { nowMs: number; workers: Worker[] };
    expectSince(before, nowMs);
    expect(workers.map(({ workerId }) => workerId)).toEqual([5, 6, 7, 8, 9]);
    const held = workers.filter(({ state }) => state === 'held');
    expect(held.map(({ workerId }) => workerId)).toEqual([service.app.get(IdService).workerId]);
    expect(held[0]!.leaseLeftMs).toBeGreaterThan(30_000);
    expect(JSON.stringify(workers)).not.toContain('token');
  });

  it.each([[{}], [{ authorization: 'Bearer wrong' }], [{ 'x-api-key': 'wrong' }]])(
    'shows them to no other client: %j',
    async (headers: Record<string, string>) => {
      const answer = await get('/v1/workers', headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(await answer.json()).toEqual(problemLike(401, 'API_KEY_REQUIRED', 'X-API-Key'));
    },
  );

  it('says who holds the worker of an ID, to who has one', async () => {
    const { ids } = (await (await fetch(`${service.url}/v1/ids`, { method: 'POST' })).json()) as { ids: string[] };
    const workers = (await (await get('/v1/workers', WITH_KEY)).json()) as { workers: Worker[] };
    const { workerId, holder } = workers.workers.find(({ state }) => state === 'held')!;
    expect(await (await get(`/v1/ids/${ids[0]}`, WITH_KEY)).json()).toMatchObject({ workerId, holder });
    expect(await (await get(`/v1/ids/${ids[0]}`)).json()).not.toHaveProperty('holder');
    expect((await get(`/v1/ids/${ids[0]}`, { 'x-api-key': 'wrong' })).status).toBe(401);
    // No process has this worker id.
    expect(await (await get('/v1/ids/0', WITH_KEY)).json()).toMatchObject({ workerId: 0, holder: null });
  });

  it('asks no other client for one', async () => {
    expect((await fetch(`${service.url}/v1/ids`, { method: 'POST' })).status).toBe(201);
    expect((await get('/v1/status')).status).toBe(200);
  });
});

describe.each<Record<string, string>>([{}, { API_KEYS_FOR: 'all' }])('A service with API keys and %j', (keysFor) => {
  let service: OpenService;

  beforeAll(async () => {
    service = await openService({ API_KEYS: KEY, ...keysFor });
  });

  afterAll(() => service.close());

  const body = (path: string): string | null => (path === '/v1/business-numbers' ? '{"series":"invoice"}' : null);
  const post = (path: string, headers: Record<string, string> = {}): Promise<Response> => {
    const payload = body(path);
    const type: Record<string, string> = payload === null ? {} : { 'content-type': 'application/json' };
    return fetch(`${service.url}${path}`, { method: 'POST', headers: { ...type, ...headers }, body: payload });
  };

  it.each([
    '/v1/ids',
    '/v1/ids/',
    '/v1/ids?count=5&format=hex',
    '/v1/ids/stream?count=5',
    '/v1/numbers/order',
    '/v1/business-numbers',
  ])('answers POST %s only to clients that have one', async (path) => {
    const before = service.app.get(IdService).status().counters.issued;
    const refused = await post(path);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(await refused.json()).toMatchObject({ errorCode: 'API_KEY_REQUIRED' });
    expect((await post(path, { 'x-api-key': `${KEY}x` })).status).toBe(401);
    expect(service.app.get(IdService).status().counters.issued).toBe(before);
    expect((await post(path, { 'x-api-key': KEY })).status).toBe(201);
  });

  it('answers what changes nothing to everybody', async () => {
    for (const path of ['/v1/status', '/v1/presets', '/v1/ids/1', '/health/ready', '/metrics', '/docs']) {
      expect((await fetch(`${service.url}${path}`)).status).toBe(200);
    }
    const plan = await fetch(`${service.url}/v1/layouts/plan`, { method: 'POST' });
    expect(plan.status).toBe(400);
  });
});

describe('A service with keys of their own for the workers', () => {
  it('shows them to who has one, and lets call who has another', async () => {
    const workersKey = 'workers-key-0123456789';
    const service = await openService({ API_KEYS: KEY, API_KEYS_FOR: 'all', WORKERS_API_KEYS: workersKey });
    try {
      const statusOf = async (method: string, path: string, key: string): Promise<number> =>
        (await fetch(`${service.url}${path}`, { method, headers: { 'x-api-key': key } })).status;
      const all = async (key: string): Promise<number[]> => [
        await statusOf('POST', '/v1/ids', key),
        await statusOf('GET', '/v1/workers', key),
      ];
      expect(await all(KEY)).toEqual([201, 403]);
      expect(await all(workersKey)).toEqual([403, 200]);
      expect(await all(`${KEY}x`)).toEqual([401, 401]);
      const holderFor = async (key: string): Promise<boolean> => {
        const answer = await fetch(`${service.url}/v1/ids/1`, { headers: { 'x-api-key': key } });
        return 'holder' in ((await answer.json()) as object);
      };
      expect([await holderFor(KEY), await holderFor(workersKey)]).toEqual([false, true]);
    } finally {
      await service.close();
    }
  });
});

describe('A service with WORKER_HISTORY_DAYS', () => {
  it('says which process issued an ID, to who has a key', async () => {
    const service = await openService({ API_KEYS: KEY, API_KEYS_FOR: 'workers', WORKER_HISTORY_DAYS: '30' });
    try {
      const { ids } = (await (await fetch(`${service.url}/v1/ids`, { method: 'POST' })).json()) as { ids: string[] };
      const read = async (headers: Record<string, string>): Promise<{ origin?: { finding: string } }> =>
        (await (await fetch(`${service.url}/v1/ids/${ids[0]}`, { headers })).json()) as object;
      const { origin } = await until('the tenure to be recorded', async () => {
        const answer = await read(WITH_KEY);
        return answer.origin?.finding === 'issued' && answer;
      });
      expect(origin).toMatchObject({ issuer: { service: 'default', pid: process.pid, ended: null, ending: 'held' } });
      expect(origin).not.toHaveProperty('issuer.code');
      expect(await read({})).not.toHaveProperty('origin');
    } finally {
      await service.close();
    }
  });
});

describe('A look at the workers', () => {
  it('writes nothing', async () => {
    // So long a lease is not renewed meanwhile.
    const service = await openService({ API_KEYS: KEY, RAINDROP_LEASE_MS: '86400000' });
    try {
      const source = service.app.get(DataSource);
      const rows = (): Promise<unknown> => source.query('SELECT * FROM soc_raindrop_worker ORDER BY id');
      const before = await rows();
      for (let look = 0; look < 3; look++) {
        expect((await fetch(`${service.url}/v1/workers`, { headers: WITH_KEY })).status).toBe(200);
        expect((await fetch(`${service.url}/v1/ids/1`, { headers: WITH_KEY })).status).toBe(200);
        expect((await fetch(`${service.url}/v1/status`)).status).toBe(200);
      }
      expect(await rows()).toEqual(before);
    } finally {
      await service.close();
    }
  });
});
