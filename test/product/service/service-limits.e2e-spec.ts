import { request } from 'node:http';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

const KEY = 'correct-horse-battery';

describe('A service with limits', () => {
  let service: OpenService;

  afterEach(() => service.close());

  /** The statuses of so many requests, one after the other. */
  const statuses = async (count: number, ask: (index: number) => Promise<{ status: number }>): Promise<number[]> => {
    const found: number[] = [];
    for (let index = 0; index < count; index++) found.push((await ask(index)).status);
    return found;
  };

  /** With the request line as it is given, which `fetch` would tidy up. */
  const raw = (path: string, method = 'POST'): Promise<{ status: number }> => {
    const { hostname, port } = new URL(service.url);
    return new Promise((settle, fail) => {
      const asked = request({ hostname, port, path, method }, (answer) => {
        answer.resume().once('end', () => settle({ status: answer.statusCode! }));
      });
      asked.once('error', fail).end();
    });
  };

  it('tells who asks too often when to come again, and lets the others and the watchers pass', async () => {
    service = await openService({ RATE_LIMIT: '20', TRUST_PROXY: '1' });
    const post = (address: string): Promise<Response> =>
      fetch(`${service.url}/v1/ids`, { method: 'POST', headers: { 'x-forwarded-for': address } });
    expect(await statuses(25, () => post('192.0.2.1'))).toEqual([
      ...Array<number>(20).fill(201),
      ...[0, 0, 0, 0, 0].fill(429),
    ]);
    const refused = await post('192.0.2.1');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const retryAfterSeconds = expect.any(Number) as number;
    expect(await refused.json()).toEqual(
      problemLike(429, 'RATE_LIMITED', 'More than 20 requests a minute', { retryable: true, retryAfterSeconds }),
    );
    expect((await post('192.0.2.2')).status).toBe(201);
    // Only what the nearest proxy says counts; the rest comes from the client.
    expect((await post('192.0.2.99, 192.0.2.1')).status).toBe(429);
    const watching = ['/health/live', '/health/ready', '/metrics', '/', '/style.css', '/docs', '/v1/status'];
    for (const path of watching) {
      const headers = { 'x-forwarded-for': '192.0.2.1' };
      expect(new Set(await statuses(25, () => fetch(service.url + path, { headers })))).toEqual(new Set([200]));
    }
  });

  it('counts the addresses of an IPv6 network as one', async () => {
    service = await openService({ RATE_LIMIT: '2', TRUST_PROXY: '1' });
    const ask = (address: string): Promise<Response> =>
      fetch(`${service.url}/v1/presets`, { headers: { 'x-forwarded-for': address } });
    expect(await statuses(3, (index) => ask(`2001:db8::${index + 1}`))).toEqual([200, 200, 429]);
    expect((await ask('2001:db8:0:1::1')).status).toBe(200);
  });

  it('believes no address that a client makes up', async () => {
    service = await openService({ RATE_LIMIT: '2' });
    const ask = (index: number): Promise<Response> =>
      fetch(`${service.url}/v1/presets`, {
        headers: { 'x-forwarded-for': `192.0.2.${index}`, forwarded: `for=192.0.2.${index}` },
      });
    expect(await statuses(3, ask)).toEqual([200, 200, 429]);
  });

  it.each(['/v1/ids', '/v1/ids/', '/%76%31/ids', '/v1/%69ds?count=1', '{origin}/v1/ids', '/v1/nothing'])(
    'counts %s, however the address is spelled',
    async (path) => {
      service = await openService({ RATE_LIMIT: '2' });
      const [first, second, third] = await statuses(3, () => raw(path.replace('{origin}', service.url)));
      expect(first).toBe(path === '/v1/nothing' ? 404 : 201);
      expect([second, third]).toEqual([first, 429]);
      expect((await raw('/v1/presets', 'GET')).status).toBe(429);
    },
  );

  it.each([
    ['/v1/ids/stream', 10],
    ['/v1/ids/stream?format=hex', 10],
    ['/v1/ids/stream?count=1001', 2],
    ['/v1/ids?count=2001', 3],
    ['/v1/numbers/order?count=2001', 3],
    ['/v1/ids', 1],
    ['/v1/numbers/order', 1],
    ['/v1/ids?count=10001', 1],
    ['/v1/ids/stream?count=1e7', 1],
  ])('weighs %s as %d requests', async (path, requests) => {
    service = await openService({ RATE_LIMIT: '11' });
    expect([201, 400]).toContain((await raw(path)).status);
    const left = await statuses(12, () => raw('/v1/presets', 'GET'));
    expect(left.filter((status) => status === 200)).toHaveLength(11 - requests);
  });

  it('says how many IDs a stream may ask for, if its default is too many for a minute', async () => {
    service = await openService({ RATE_LIMIT: '9' });
    const answer = await fetch(`${service.url}/v1/ids/stream`, { method: 'POST' });
    expect(await answer.json()).toEqual(problemLike(400, 'INVALID_INPUT', 'count must be at most 9000'));
  });

  it('counts wrong API keys', async () => {
    service = await openService({ RATE_LIMIT: '3', API_KEYS: KEY, API_KEYS_FOR: 'all' });
    const guess = (index: number): Promise<Response> =>
      fetch(`${service.url}/v1/ids`, { method: 'POST', headers: { 'x-api-key': `guess-${index}` } });
    expect(await statuses(4, guess)).toEqual([401, 401, 401, 429]);
  });

  it('has none unless it is told', async () => {
    service = await openService();
    expect(new Set(await statuses(100, () => raw('/v1/ids')))).toEqual(new Set([201]));
  });

  it('refuses a body that is too long for it', async () => {
    service = await openService();
    const body = `"${'x'.repeat(5_000)}"`;
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${service.url}/v1/business-numbers`, { method: 'POST', headers, body });
    expect(answer.status).toBe(413);
    expect(await answer.json()).toEqual(problemLike(413, 'PAYLOAD_TOO_LARGE', ''));
  });
});
