import { IdService } from '@raindrop/nestjs';
import { openDemo, type OpenDemo } from './open-demo.js';
import { problemLike } from './problem-like.js';

const KEY = 'correct-horse-battery';
const WITH_KEY = { authorization: `Bearer ${KEY}` };

interface Worker {
  readonly workerId: number;
  readonly state: string;
  readonly holder: string;
  readonly leaseLeftMs: number | null;
}

describe('A service with API keys', () => {
  let demo: OpenDemo;

  beforeAll(async () => {
    demo = await openDemo({ API_KEYS: `another-key-0123456789,${KEY}` });
  });

  afterAll(() => demo.close());

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${demo.url}${path}`, { headers });

  it('shows the workers to who has one', async () => {
    const answer = await get('/v1/workers', WITH_KEY);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { nowMs, workers } = (await answer.json()) as { nowMs: number; workers: Worker[] };
    expect(Math.abs(nowMs - Date.now())).toBeLessThan(5_000);
    expect(workers.map(({ workerId }) => workerId)).toEqual([5, 6, 7, 8, 9]);
    const held = workers.filter(({ state }) => state === 'held');
    expect(held.map(({ workerId }) => workerId)).toEqual([demo.app.get(IdService).workerId]);
    expect(held[0]!.leaseLeftMs).toBeGreaterThan(30_000);
    expect(JSON.stringify(workers)).not.toContain('token');
  });

  it.each([[{}], [{ authorization: 'Bearer wrong' }], [{ 'x-api-key': 'wrong' }]])(
    'shows them to nobody else: %j',
    async (headers: Record<string, string>) => {
      const answer = await get('/v1/workers', headers);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(await answer.json()).toEqual(problemLike(401, 'API_KEY_REQUIRED', 'X-API-Key'));
    },
  );

  it('says who holds the worker of an ID, to who has one', async () => {
    const { ids } = (await (await fetch(`${demo.url}/v1/ids`, { method: 'POST' })).json()) as { ids: string[] };
    const workers = (await (await get('/v1/workers', WITH_KEY)).json()) as { workers: Worker[] };
    const { workerId, holder } = workers.workers.find(({ state }) => state === 'held')!;
    expect(await (await get(`/v1/ids/${ids[0]}`, WITH_KEY)).json()).toMatchObject({ workerId, holder });
    expect(await (await get(`/v1/ids/${ids[0]}`)).json()).not.toHaveProperty('holder');
    expect((await get(`/v1/ids/${ids[0]}`, { 'x-api-key': 'wrong' })).status).toBe(401);
    // Nobody's worker id.
    expect(await (await get('/v1/ids/0', WITH_KEY)).json()).toMatchObject({ workerId: 0, holder: null });
  });

  it('asks nobody else for one', async () => {
    expect((await fetch(`${demo.url}/v1/ids`, { method: 'POST' })).status).toBe(201);
    expect((await get('/v1/status')).status).toBe(200);
  });
});

describe('A service with API keys for all that changes something', () => {
  let demo: OpenDemo;

  beforeAll(async () => {
    demo = await openDemo({ API_KEYS: KEY, API_KEYS_FOR: 'all' });
  });

  afterAll(() => demo.close());

  const body = (path: string): string | null =>
    path === '/v1/orders' ? '{"customer":"Ada","items":[{"sku":"tea","quantity":1}]}' : null;
  const post = (path: string, headers: Record<string, string> = {}): Promise<Response> => {
    const payload = body(path);
    const type: Record<string, string> = payload === null ? {} : { 'content-type': 'application/json' };
    return fetch(`${demo.url}${path}`, { method: 'POST', headers: { ...type, ...headers }, body: payload });
  };

  it.each([
    '/v1/ids',
    '/v1/ids/',
    '/v1/ids?count=5&format=hex',
    '/v1/ids/stream?count=5',
    '/v1/numbers/order',
    '/v1/orders',
  ])('answers POST %s to who has one, and to nobody else', async (path) => {
    const before = demo.app.get(IdService).status().counters.issued;
    const refused = await post(path);
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(await refused.json()).toMatchObject({ errorCode: 'API_KEY_REQUIRED' });
    expect((await post(path, { 'x-api-key': `${KEY}x` })).status).toBe(401);
    expect(demo.app.get(IdService).status().counters.issued).toBe(before);
    expect((await post(path, { 'x-api-key': KEY })).status).toBe(201);
  });

  it('answers what changes nothing to everybody', async () => {
    for (const path of ['/v1/status', '/v1/presets', '/v1/ids/1', '/v1/orders', '/health/ready', '/metrics', '/docs']) {
      expect((await fetch(`${demo.url}${path}`)).status).toBe(200);
    }
    const plan = await fetch(`${demo.url}/v1/layouts/plan`, { method: 'POST' });
    expect(plan.status).toBe(400);
  });
});

describe('A service with limits', () => {
  it('tells who asks too often when to come again, and lets the others and the watchers pass', async () => {
    const demo = await openDemo({ RATE_LIMIT: '20', TRUST_PROXY: '1' });
    try {
      const post = (address: string): Promise<Response> =>
        fetch(`${demo.url}/v1/ids`, { method: 'POST', headers: { 'x-forwarded-for': address } });
      const statuses: number[] = [];
      for (let asked = 0; asked < 25; asked++) statuses.push((await post('192.0.2.1')).status);
      expect(statuses).toEqual([...Array<number>(20).fill(201), ...Array<number>(5).fill(429)]);
      const refused = await post('192.0.2.1');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const retryAfterSeconds = expect.any(Number) as number;
      expect(await refused.json()).toEqual(
        problemLike(429, 'RATE_LIMITED', 'More than 20 requests a minute', { retryable: true, retryAfterSeconds }),
      );
      expect((await post('192.0.2.2')).status).toBe(201);
      for (let asked = 0; asked < 30; asked++) expect((await fetch(`${demo.url}/health/live`)).status).toBe(200);
    } finally {
      await demo.close();
    }
  });

  it('believes no address that a client makes up', async () => {
    const demo = await openDemo({ RATE_LIMIT: '2' });
    try {
      const statuses: number[] = [];
      for (let asked = 0; asked < 3; asked++) {
        const headers = { 'x-forwarded-for': `192.0.2.${asked}` };
        statuses.push((await fetch(`${demo.url}/v1/status`, { headers })).status);
      }
      expect(statuses).toEqual([200, 200, 429]);
    } finally {
      await demo.close();
    }
  });

  it('refuses a body that is too long for it', async () => {
    const demo = await openDemo({ BODY_LIMIT_KB: '1', DOCS_URL: 'https://docs.example/errors.md' });
    try {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${demo.url}/v1/orders`, { method: 'POST', headers, body: `"${'x'.repeat(2_000)}"` });
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({
        errorCode: 'PAYLOAD_TOO_LARGE',
        type: 'https://docs.example/errors.md#payload_too_large',
      });
    } finally {
      await demo.close();
    }
  });
});
