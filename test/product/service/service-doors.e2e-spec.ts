import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdService } from '@raindrop/nestjs';
import { openDatabase, dataSourceOptions } from '../../../apps/id-service/src/database/open-database.js';
import { openService, type OpenService } from './open-service.js';
import { problemLike } from './problem-like.js';

const KEY = 'correct-horse-battery';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

describe('Who comes in', () => {
  let service: OpenService;
  let usual: OpenService;

  beforeAll(async () => {
    usual = await openService();
  });

  beforeEach(() => {
    service = usual;
  });

  afterEach(async () => {
    if (service !== usual) await service.close();
  });

  afterAll(() => usual.close());

  /** With every header as it is given, which `fetch` would not send. */
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: Buffer): Promise<Answer> =>
    new Promise((settle, fail) => {
      const asked = request(service.url + path, { method, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = answer.headers['content-type']?.includes('json') === true && text !== '';
          settle({ status: answer.statusCode!, body: isJson ? (JSON.parse(text) as Answer['body']) : {} });
        });
      });
      asked.once('error', fail).end(body);
    });
  const statusOf = async (...asked: Parameters<typeof ask>): Promise<number> => (await ask(...asked)).status;

  it('is no page of another site', async () => {
    const before = service.app.get(IdService).status().counters.issued;
    const { host } = new URL(service.url);
    const foreign: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: service.url },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://127.0.0.1:1' },
      { origin: 'rubbish' },
    ];
    for (const path of [
      '/v1/ids?count=10',
      '/v1/ids/stream',
      '/v1/numbers/order',
      '/v1/business-numbers',
      '/nothing',
    ]) {
      for (const headers of foreign) {
        const { status, body } = await ask('POST', path, headers);
        expect([path, headers, status]).toEqual([path, headers, 403]);
        expect(body).toEqual(problemLike(403, 'CROSS_SITE', 'Pages of other sites'));
      }
    }
    expect(service.app.get(IdService).status().counters.issued).toBe(before);
    const own: Record<string, string>[] = [{}, { 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }];
    for (const headers of [...own, { origin: service.url }, { origin: `http://${host.toUpperCase()}` }]) {
      expect(await statusOf('POST', '/v1/ids', headers)).toBe(201);
    }
    for (const headers of foreign) expect(await statusOf('GET', '/v1/status', headers)).toBe(200);
  });

  it('names the service as it is called on a loopback address', async () => {
    const { port } = new URL(service.url);
    for (const host of [
      'localhost',
      `localhost:${port}`,
      'LOCALHOST',
      `127.0.0.1:${port}`,
      '127.0.0.2',
      `[::1]:${port}`,
    ]) {
      expect([host, await statusOf('GET', '/v1/status', { host })]).toEqual([host, 200]);
    }
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '192.0.2.1',
      'localhost.evil.example',
      '127.0.0.1.nip.io',
    ]) {
      for (const path of ['/v1/status', '/', '/docs-json', '/nothing']) {
        const { status, body } = await ask('GET', path, { host });
        expect([host, path, status]).toEqual([host, path, 421]);
        expect(body).toEqual(problemLike(421, 'HOST_NOT_ALLOWED', 'ALLOWED_HOSTS'));
      }
      for (const path of ['/health', '/health/live', '/health/ready', '/metrics']) {
        expect(await statusOf('GET', path, { host })).toBe(200);
      }
    }
  });

  it('names the service as ALLOWED_HOSTS does, wherever it listens', async () => {
    service = await openService({ HOST: '0.0.0.0', ALLOWED_HOSTS: 'ids.example,ids' });
    for (const host of ['ids.example', 'IDS.example:8080', 'ids']) {
      expect(await statusOf('GET', '/v1/status', { host })).toBe(200);
    }
    for (const host of ['localhost', '127.0.0.1', 'evil.example', '10.0.0.7:3000']) {
      expect(await statusOf('GET', '/v1/status', { host })).toBe(421);
      expect(await statusOf('GET', '/health/ready', { host })).toBe(200);
    }
    const behindProxy = { host: 'ids', origin: 'https://ids.example' };
    expect(await statusOf('POST', '/v1/ids', behindProxy)).toBe(201);
  });

  it('may name it as he likes elsewhere', async () => {
    service = await openService({ HOST: '0.0.0.0' });
    expect(await statusOf('GET', '/v1/presets', { host: 'anything.example' })).toBe(200);
  });

  it('is whom the proxy names, if that is an address', async () => {
    service = await openService({ RATE_LIMIT: '2', TRUST_PROXY: '1' });
    const from = (address: string): Promise<number> => statusOf('GET', '/v1/presets', { 'x-forwarded-for': address });
    expect(await from('192.0.2.1:1111')).toBe(200);
    expect(await from('[2001:db8::1]:443')).toBe(200);
    expect([await from('192.0.2.1:2222'), await from('192.0.2.1')]).toEqual([200, 429]);
    for (const address of ['unknown', 'x'.repeat(5_000), '192.0.2.1, somebody', '192.0.2.300']) {
      const { status, body } = await ask('GET', '/v1/presets', { 'x-forwarded-for': address });
      expect(status).toBe(400);
      expect(body).toEqual(problemLike(400, 'BAD_REQUEST', 'X-Forwarded-For must contain IP addresses'));
    }
  });

  it.each([
    ['GET', '/v1/status?x=1', '"x" is unknown; legal: no query'],
    ['GET', '/v1/presets?x', '"x" is unknown; legal: no query'],
    ['GET', '/v1/workers?x=1', '"x" is unknown'],
    ['POST', '/v1/layouts/plan?count=1', '"count" is unknown'],
    ['POST', '/v1/business-numbers?limit=1', '"limit" is unknown'],
    ['GET', '/v1/ids/1?after=1', '"after" is unknown'],
    ['POST', '/v1/ids?count=1&count=2', '"count" is given more than once'],
    ['POST', '/v1/ids?code=a&code=a', '"code" is given more than once'],
    ['GET', '/v1/ids/1?format=hex&format=hex', '"format" is given more than once'],
    ['POST', '/v1/ids?cuont=1', '"cuont" is unknown; legal: count, code, format'],
    ['POST', '/v1/ids?code=%ff', 'the query must be UTF-8'],
    ['POST', '/v1/ids?code=%zz', 'the query must be UTF-8'],
    ['POST', '/v1/ids?code=50%', 'the query must be UTF-8'],
  ])('asks clearly: %s %s', async (method, path, detail) => {
    const { status, body } = await ask(method, path);
    expect(status).toBe(400);
    expect(body).toEqual(problemLike(400, 'INVALID_INPUT', detail));
  });

  it.each<[number, Record<string, string>, Buffer]>([
    [415, { 'content-encoding': 'gzip' }, Buffer.from('{}')],
    [415, { 'content-encoding': 'br, identity' }, Buffer.from('{}')],
    [415, { 'content-type': 'application/json; charset=latin1' }, Buffer.from('{}')],
    [415, { 'content-type': 'application/json; charset="utf-16"' }, Buffer.from('{}')],
    [400, {}, Buffer.from('{"app":1,"gatePass":"\xff"}', 'latin1')],
    [201, { 'content-type': 'application/json; charset=UTF-8' }, Buffer.from('{"app":1,"gatePass":"ü"}')],
    [201, { 'content-type': 'application/json; charset="utf-8"' }, Buffer.from('{"app":1,"gatePass":"ü"}')],
    [201, { 'content-encoding': 'identity' }, Buffer.from('{"app":1,"gatePass":"ü"}')],
  ])('writes JSON in UTF-8: %d for %j', async (status, headers, body) => {
    const sent = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers };
    expect(await statusOf('POST', '/v1/sharded-ids', sent, body)).toBe(status);
  });

  it.each([98, 99, 100, 999, 1_300])('cannot hide a proxy behind %d fields of his own', async (fields) => {
    // A Host and a Connection come from the client of Node.js; the proxy's field is the last one.
    const own = Object.fromEntries(Array.from({ length: fields - 2 }, (_, index) => [`a${index}`, 'b']));
    for (const name of ['x-forwarded-for', 'via', 'forwarded']) {
      const { status, body } = await ask('GET', '/v1/workers', { ...own, [name]: '192.0.2.1' });
      if (fields + 1 <= 100) expect(body).toEqual(problemLike(404, 'WORKERS_NOT_SHOWN', 'no API_KEYS'));
      else expect(body).toEqual(problemLike(431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'more than 100 header fields'));
      expect(status).toBe(body['status']);
    }
  });

  it('may not send more than 100 header fields to any address', async () => {
    const many = Object.fromEntries(Array.from({ length: 1_300 }, (_, index) => [`a${index}`, 'b']));
    for (const path of ['/', '/v1/status', '/docs', '/health/live', '/metrics', '/nothing', '/v1/ids/1']) {
      expect([path, await statusOf('GET', path, many)]).toEqual([path, 431]);
    }
    expect(await statusOf('POST', '/v1/ids', many)).toBe(431);
  });

  it('is not told which worker it is by /health', async () => {
    for (const path of ['/health', '/health/ready']) {
      const { body } = await ask('GET', path);
      expect(body).toMatchObject({ details: { raindrop: { status: 'up', state: 'held' } } });
      expect(JSON.stringify(body)).not.toContain('workerId');
    }
  });

  it('cannot use up the codes of others', async () => {
    service = await openService({ KNOWN_CODES: 'order', API_KEYS: KEY, API_KEYS_FOR: 'workers', TRUST_PROXY: '1' });
    const issue = (code: string, address: string, headers: Record<string, string> = {}): Promise<number> =>
      statusOf('POST', `/v1/ids?code=${code}`, { 'x-forwarded-for': address, ...headers });
    for (let each = 0; each < 500; each++) expect(await issue(`made-up-${each}`, '192.0.2.1')).toBe(201);
    const { status, body } = await ask('POST', '/v1/ids?code=one-more', { 'x-forwarded-for': '192.0.2.1' });
    expect(status).toBe(429);
    const told = { retryable: true, retryAfterSeconds: expect.any(Number) as number };
    expect(body).toEqual(problemLike(429, 'TOO_MANY_NEW_NAMES', 'More than 500 new codes from one address', told));
    expect(await statusOf('POST', '/v1/ids/stream?count=1&code=one-more', { 'x-forwarded-for': '192.0.2.1' })).toBe(
      429,
    );
    expect(await issue('one-more', '192.0.2.1', { 'x-api-key': `${KEY}x` })).toBe(429);
    expect(await issue('one-more', '192.0.2.1', { 'x-api-key': KEY })).toBe(201);
    expect(await issue('one-more', '192.0.2.2')).toBe(201);
    for (const code of ['made-up-7', 'order', 'one-more']) expect(await issue(code, '192.0.2.1')).toBe(201);
    // Nor the series of the metrics.
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const series = [...text.matchAll(/^raindrop_ids_issued_total\{.*raindrop_code="([^"]*)"/gm)].map(
      ([, code]) => code,
    );
    expect(series).toContain('order');
    expect(series.filter((code) => code!.startsWith('made-up'))).toEqual([]);
  });

  it('cannot fill the database with tenants', async () => {
    service = await openService({ API_KEYS: KEY, API_KEYS_FOR: 'workers' });
    const issue = async (tenant: string, headers: Record<string, string> = {}): Promise<Answer> => {
      const type = { 'content-type': 'application/json' };
      return ask(
        'POST',
        '/v1/business-numbers',
        { ...type, ...headers },
        Buffer.from(JSON.stringify({ series: 'invoice', tenant })),
      );
    };
    for (let each = 0; each < 100; each++) expect((await issue(`t${each}`)).status).toBe(201);
    const { status, body } = await issue('one-more');
    expect(status).toBe(429);
    expect(body).toEqual(problemLike(429, 'TOO_MANY_NEW_NAMES', 'More than 100 new tenants from one address'));
    expect((await issue('t5')).status).toBe(201);
    expect((await issue('one-more', { 'x-api-key': KEY })).status).toBe(201);
  });
});

it('A new SQLite file, and what SQLite puts beside it, is for its user alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-doors-'));
  const database = join(folder, 'data', 'ids.sqlite');
  const source = await openDatabase(dataSourceOptions({ type: 'better-sqlite3', database }));
  try {
    await source.query('CREATE TABLE note (id integer)');
    const rights = ['', '-wal', '-shm', '/..'].map((end) =>
      (statSync(join(folder, 'data', `ids.sqlite${end}`)).mode & 0o777).toString(8),
    );
    expect(rights).toEqual(['600', '600', '600', '700']);
  } finally {
    await source.destroy();
    rmSync(folder, { recursive: true });
  }
});
