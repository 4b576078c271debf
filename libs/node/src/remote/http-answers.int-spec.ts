import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { createLayout } from '@raindrop/core';
import { openIdService } from '@raindrop/node';
import { HttpTransport, remoteIds, remoteIdsHeaders } from './remote-ids.js';
import { systemPorts } from '../system/system-ports.js';
import { freePort } from '../../../../test/support/servers/free-port.js';

const KEY = 'a-key-that-stays-secret';
const LAYOUT = createLayout(
  { startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10 },
  Date.parse('2026-01-01'),
);

let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: IncomingMessage[];
let connections: number;

beforeEach(async () => {
  asked = [];
  connections = 0;
  server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  server.on('connection', () => connections++);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
});

const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const echo = (request: IncomingMessage): Record<string, string> =>
  remoteIdsHeaders(LAYOUT, request.headers['raindrop-request']);
const transport = (path = ''): HttpTransport =>
  new HttpTransport(new URL(url() + path), KEY, systemPorts('exact').randomness);

/** What one question comes to. */
async function ask(count = 64, signal = new AbortController().signal): Promise<Record<string, unknown>> {
  const failure = await transport()
    .take(count, undefined, signal)
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  // Neither the error nor anything that hangs on it.
  expect(inspect(failure, { depth: 10, showHidden: true })).not.toContain(KEY);
  return failure as Record<string, unknown>;
}

it('A question names itself, its key and what it wants, and forbids to store the answer', async () => {
  answer = (request, response) => response.writeHead(201, echo(request)).end('{"ids":["5"]}');
  const way = transport('/behind/a/path/');
  expect(way.name).toBe(`the ID service at ${url()}/behind/a/path`);
  const { signal } = new AbortController();
  expect(await way.take(7, 'é & ?', signal)).toEqual({ ids: ['5'], layout: LAYOUT.fingerprint });
  await way.take(7, undefined, signal);
  const [first, second] = asked;
  expect(first).toMatchObject({ method: 'POST', url: '/behind/a/path/v1/ids?count=7&code=%C3%A9+%26+%3F' });
  expect(second!.url).toBe('/behind/a/path/v1/ids?count=7');
  expect(first!.headers).toMatchObject({
    authorization: `Bearer ${KEY}`,
    'cache-control': 'no-store',
    'raindrop-request': expect.stringMatching(/^[\w-]{20,}$/) as unknown,
  });
  expect(first!.headers['raindrop-request']).not.toBe(second!.headers['raindrop-request']);
  expect(inspect(way, { depth: 10, showHidden: true })).not.toContain(KEY);
});

it.each(['//elsewhere', '//elsewhere.example:1/x', '///', '/a//b///'])(
  'The path %s leads to no other host',
  async (path) => {
    answer = (request, response) => response.writeHead(201, echo(request)).end('{"ids":["5"]}');
    const way = new HttpTransport(new URL(url() + path), KEY, systemPorts('exact').randomness);
    await way.take(1, undefined, new AbortController().signal);
    expect(asked[0]!.url).toBe(`${path.replace(/\/+$/, '')}/v1/ids?count=1`);
    expect(way.name).toBe(`the ID service at ${url()}${path.replace(/\/+$/, '')}`);
  },
);

it('A host may be an address of version 6', async () => {
  const six = createServer((request, response) => response.writeHead(201, echo(request)).end('{"ids":["5","6"]}'));
  await once(six.listen(0, '::1'), 'listening');
  const ids = await openIdService({
    idSource: remoteIds({ url: `http://[::1]:${(six.address() as AddressInfo).port}`, minStep: 2 }),
  });
  expect(await ids.nextIdsAsync(2)).toEqual([5n, 6n]);
  await ids.close();
  six.closeAllConnections();
  six.close();
});

it('Connections are kept', async () => {
  answer = (request, response) => response.writeHead(201, echo(request)).end('{"ids":["5"]}');
  const way = transport();
  for (let round = 0; round < 50; round++) await way.take(1, undefined, new AbortController().signal);
  expect(asked).toHaveLength(50);
  // A connection is free a moment after its answer.
  expect(connections).toBeLessThan(5);
});

describe('Of an answer nothing is used that', () => {
  it.each<[string, (request: IncomingMessage, response: ServerResponse) => void, object, string]>([
    [
      'names no request',
      (_, response) => response.writeHead(201).end('{"ids":["5"]}'),
      { errorCode: 'STALE_REMOTE_ANSWER', retryable: true },
      'names no request',
    ],
    [
      'names another request',
      (_, response) => response.writeHead(201, { 'raindrop-request': 'earlier' }).end('{"ids":["5"]}'),
      { errorCode: 'STALE_REMOTE_ANSWER' },
      'is for another request ("earlier")',
    ],
    [
      'is no JSON',
      (request, response) => response.writeHead(201, echo(request)).end('<html>'),
      { errorCode: 'INVALID_REMOTE_ANSWER', retryable: true },
      'is not JSON',
    ],
    [
      'never ends',
      (request, response) => {
        response.writeHead(201, echo(request));
        const more = (): void => {
          while (!response.destroyed && response.write(' '.repeat(10_000)));
        };
        response.on('drain', more);
        more();
      },
      { errorCode: 'INVALID_REMOTE_ANSWER' },
      'is too long for 64 IDs',
    ],
    [
      'leads elsewhere',
      (_, response) => response.writeHead(307, { location: `${url()}/elsewhere` }).end(),
      { errorCode: 'REMOTE_IDS_REFUSED', status: 307, retryable: false },
      'redirects are not followed',
    ],
    [
      'has problem details',
      (_, response) =>
        response
          .writeHead(400, { 'content-type': 'application/problem+json' })
          .end(JSON.stringify({ status: 400, detail: 'not\nso', errorCode: 'INVALID_CODE', retryable: false })),
      { errorCode: 'INVALID_CODE', status: 400, retryable: false },
      'refused (400): not so',
    ],
    [
      'repeats the key',
      (request, response) =>
        response.writeHead(401).end(JSON.stringify({ detail: `no key is ${request.headers.authorization}` })),
      { errorCode: 'REMOTE_IDS_REFUSED', status: 401, retryable: false },
      'no key is Bearer (hidden). Set an apiKey',
    ],
    [
      'comes from somebody else',
      (_, response) => response.writeHead(404).end('<html>'.repeat(10_000)),
      { errorCode: 'REMOTE_IDS_REFUSED', status: 404, retryable: false },
      'it does not say why. Is it an ID service? It was asked POST http://127.0.0.1:',
    ],
    [
      'asks for a pause',
      (_, response) => response.writeHead(429, { 'retry-after': '7' }).end('{"errorCode":"RATE_LIMITED"}'),
      { errorCode: 'RATE_LIMITED', status: 429, retryable: true, retryAfterMs: 7_000 },
      'it does not say why',
    ],
    [
      'asks for a pause by the clock of the service',
      (_, response) =>
        response
          .writeHead(503, { date: 'Tue, 01 Jan 2030 00:00:00 GMT', 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' })
          .end(),
      { status: 503, retryable: true, retryAfterMs: 9_000 },
      'refused (503)',
    ],
    [
      'asks for a pause of years',
      (_, response) => response.writeHead(503, { 'retry-after': '999999999' }).end(),
      { retryAfterMs: 300_000 },
      'refused (503)',
    ],
    [
      'asks for a pause in a way that is none',
      (_, response) => response.writeHead(500, { 'retry-after': 'soon' }).end(),
      { retryable: true, retryAfterMs: undefined },
      'refused (500)',
    ],
    [
      'says that it will not pass',
      (_, response) => response.writeHead(500).end('{"retryable":false,"errorCode":"TIMESTAMP_OVERFLOW"}'),
      { errorCode: 'TIMESTAMP_OVERFLOW', retryable: false },
      'refused (500)',
    ],
    [
      'is empty',
      (request, response) => response.writeHead(204, echo(request)).end(),
      { errorCode: 'REMOTE_IDS_REFUSED', status: 204, retryable: false },
      'refused (204)',
    ],
    ['breaks off', (_, response) => response.destroy(), {}, 'UND_ERR_SOCKET'],
    [
      'breaks off in the middle of its IDs',
      (request, response) => {
        response.writeHead(201, { ...echo(request), 'content-length': '1000' });
        response.write('{"ids":["5","6"', () => response.destroy());
      },
      {},
      'UND_ERR_SOCKET',
    ],
    [
      'breaks off in the middle of its IDs, without having said how many there are',
      (request, response) => {
        const head = Object.entries(echo(request)).map(([name, value]) => `${name}: ${value}\r\n`);
        response.socket!.end(`HTTP/1.0 201 Created\r\n${head.join('')}\r\n{"ids":["5","6"`);
      },
      { errorCode: 'INVALID_REMOTE_ANSWER' },
      'is not JSON',
    ],
    [
      'is not there because it was not changed',
      (request, response) => response.writeHead(304, echo(request)).end(),
      { errorCode: 'REMOTE_IDS_REFUSED', status: 304, retryable: false },
      'refused (304): it does not say why',
    ],
    [
      'names the pause in its body only',
      (_, response) => response.writeHead(429).end('{"errorCode":"TOO_MANY_STREAMS","retryAfterSeconds":3}'),
      { errorCode: 'TOO_MANY_STREAMS', retryable: true, retryAfterMs: 3_000 },
      'refused (429)',
    ],
  ])('%s', async (_, says, error, message) => {
    answer = says;
    const failure = await ask();
    expect(failure).toMatchObject(error);
    expect(failure['message']).toContain(message);
    expect(asked).toHaveLength(1);
  });

  it('is given up', async () => {
    const patience = new AbortController();
    answer = () => patience.abort();
    expect((await ask(1, patience.signal))['message']).toMatch(/aborted/);
    expect(connections).toBe(1);
  });
});

it('A service that is not there is one that cannot be reached', async () => {
  const port = await freePort();
  const nowhere = new HttpTransport(new URL(`http://127.0.0.1:${port}`), undefined, systemPorts('exact').randomness);
  const failure = nowhere.take(1, undefined, new AbortController().signal);
  await expect(failure).rejects.toThrow('ECONNREFUSED');
});

it.each([
  [{}, 64, 4_000],
  [{ maxStep: undefined }, 64, 4_000],
  [{ minStep: 6_000 }, 6_000, 6_000],
])('Batches grow as %j says', async (options, first, most) => {
  let next = 1n;
  const counts: number[] = [];
  answer = (request, response) => {
    const count = Number(new URL(request.url!, url()).searchParams.get('count'));
    counts.push(count);
    const ids = Array.from({ length: count }, () => String(next++));
    response.writeHead(201, echo(request)).end(JSON.stringify({ ids }));
  };
  const ids = await openIdService({ idSource: remoteIds({ url: url(), ...options }) });
  await ids.nextIdsAsync(20_000);
  expect(counts[0]).toBe(first);
  expect(Math.max(...counts)).toBe(most);
  await ids.close();
});

it('A start against a service that refuses for good fails at once, with its words and none of the key', async () => {
  answer = (_, response) => response.writeHead(401).end('{"errorCode":"UNAUTHORIZED","detail":"wrong key"}');
  const opening = openIdService({ idSource: remoteIds({ url: url(), apiKey: KEY }) });
  await expect(opening).rejects.toMatchObject({ errorCode: 'UNAUTHORIZED', retryable: false });
  expect(inspect(remoteIds({ url: url(), apiKey: KEY }), { depth: 10, showHidden: true })).not.toContain(KEY);
});

describe('Options are refused before anything is asked:', () => {
  it.each<[unknown, string]>([
    [{}, 'url = undefined: is required: an http: or https: URL'],
    [{ url: 'ids:3000' }, 'url = "(hidden)": must be: an http: or https: URL'],
    [{ url: 7 }, 'url = 7: must be'],
    [{ url: `http://me:${KEY}@ids` }, 'without user, password'],
    [{ url: 'http://ids?x=1' }, 'query and fragment'],
    [{ url: 'http://ids', apiKey: `${KEY}\r\nx: y` }, 'apiKey = "(hidden)": must be'],
    [{ url: 'http://ids', apiKey: '' }, 'visible ASCII'],
    [{ url: 'http://ids', minStep: 0 }, 'minStep'],
    [{ url: 'http://ids', codes: 'a' }, 'codes'],
    [{ url: 'http://ids', codes: ['a', ''] }, 'codes = an array: must be a list of strings of 1 to 128 characters'],
    [{ url: 'http://ids', maxStep: 5 }, 'maxStep = 5'],
    [{ url: 'http://ids', port: 3 }, 'port'],
    [{ url: 'http://ids', maxBatch: 3 }, 'maxBatch = 3: is an option of the module, or of openIdService()'],
    [`http://me:${KEY}@ids`, 'options'],
    [undefined, 'options'],
  ])('%j', async (options, message) => {
    const opening = openIdService({ idSource: remoteIds(options as never) });
    const error = await opening.catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ errorCode: 'CONFIGURATION' });
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).not.toContain(KEY);
  });

  it.each([
    ['nothing', null],
    ['a URL', `http://me:${KEY}@ids`],
  ])('a source that is %s', async (_, source) => {
    const opening = openIdService({ idSource: source as never });
    await expect(opening).rejects.toMatchObject({
      errorCode: 'CONFIGURATION',
      message: expect.stringMatching(/^(?!.*stays-secret).*must be the result of remoteIds\(\)/s) as unknown,
    });
  });

  it.each<[object, string]>([
    [{ layout: {} }, 'a Layout from createLayout()'],
    [{ name: '' }, 'name'],
    [{ maxBath: 3 }, 'did you mean maxBatch'],
  ])('%j', async (options, message) => {
    await expect(openIdService({ idSource: remoteIds({ url: 'http://ids' }), ...options })).rejects.toThrow(message);
  });
});
