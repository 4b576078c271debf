import { connect } from 'node:net';
import { once } from 'node:events';
import { Logger } from '@nestjs/common';
import { ClientProxyFactory, Transport, type ClientProxy } from '@nestjs/microservices';
import { IdService } from '@raindrop/nestjs';
import { LeaseLostError } from '@raindrop/core/internal';
import { firstValueFrom } from 'rxjs';
import type { NewIds } from '../../apps/demo/src/ids/new-ids.js';
import { freePort } from '../servers/free-port.js';
import { openDemo, type OpenDemo } from './open-demo.js';
import { problemLike } from './problem-like.js';
import { until } from '../waiting/until.js';

const KEY = 'correct-horse-battery';
const OTHER = 'workers-key-0123456789';

describe('The TCP transport', () => {
  let demo: OpenDemo;
  let client: ClientProxy;
  let port: number;
  /** For all tests that want nothing special. */
  let usual: { readonly demo: OpenDemo; readonly port: number } | undefined;

  const open = async (environment: Record<string, string> = {}): Promise<NonNullable<typeof usual>> => {
    const at = await freePort();
    return { port: at, demo: await openDemo({ TCP_PORT: String(at), ...environment }) };
  };
  const start = async (environment?: Record<string, string>): Promise<void> => {
    ({ demo, port } = environment === undefined ? (usual ??= await open()) : await open(environment));
    client = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } });
  };

  afterEach(async () => {
    jest.restoreAllMocks();
    await client.close();
    if (demo !== usual?.demo) await demo.close();
  });
  afterAll(() => usual?.demo.close());

  const send = (pattern: string, data: unknown): Promise<unknown> => firstValueFrom(client.send(pattern, data));
  const refusal = (data: unknown): Promise<unknown> =>
    send('ids.next', data).then(
      (answer) => Promise.reject(new Error(`was answered: ${JSON.stringify(answer)}`)),
      (error: unknown) => error,
    );

  it('issues IDs beside HTTP, and names the layout', async () => {
    await start();
    const { ids } = (await send('ids.next', { count: 1_000, code: 'tcp' })) as { ids: string[] };
    const http = await fetch(`${demo.url}/v1/ids?count=1000&code=tcp`, { method: 'POST' });
    const more = ((await http.json()) as { ids: string[] }).ids;
    expect(new Set([...ids, ...more]).size).toBe(2_000);
    expect((await send('ids.next', {})) as object).toEqual({ ids: [expect.stringMatching(/^\d{17,19}$/)] });
    expect(await send('ids.layout', {})).toBe(demo.app.get(IdService).layout.fingerprint);
  });

  it.each([
    [{ count: 0 }, 'count must be an integer from 1 to 10000'],
    [{ count: 10_001 }, 'count must be an integer from 1 to 10000'],
    [{ count: '5' }, 'count must be an integer from 1 to 10000'],
    [{ code: '' }, 'code must be a text of 1 to 128 characters'],
    [{ cuont: 5 }, '"cuont" is not known here; legal: count, code, apiKey'],
  ])('refuses %j with the same problem as HTTP', async (data, detail) => {
    await start();
    expect(await refusal(data)).toEqual(problemLike(400, 'INVALID_INPUT', detail));
  });

  it('asks for a key where HTTP does', async () => {
    await start({ API_KEYS: KEY, API_KEYS_FOR: 'all' });
    const refused = problemLike(401, 'API_KEY_REQUIRED', 'An API key is required');
    expect(await refusal({ count: 1 })).toEqual(refused);
    expect(await refusal({ count: 1, apiKey: `${KEY}x` })).toEqual(refused);
    expect(await send('ids.next', { count: 1, apiKey: KEY })).toEqual({ ids: [expect.any(String)] });
  });

  /** Messages as they stand on the wire. */
  const framed = (...messages: object[]): string =>
    messages
      .map((message) => JSON.stringify(message))
      .map((json) => `${json.length}#${json}`)
      .join('');

  /** Reads so many answers to what is written. */
  const talk = async (text: string, answers: number): Promise<{ id: string; err?: object; response?: NewIds }[]> => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(text);
    const read: { id: string; err?: object; response?: NewIds }[] = [];
    let left = '';
    for await (const chunk of socket) {
      left += chunk as string;
      for (let at = left.indexOf('#'); at > 0; at = left.indexOf('#')) {
        const end = at + 1 + Number(left.slice(0, at));
        if (left.length < end) break;
        read.push(JSON.parse(left.slice(at + 1, end)) as (typeof read)[number]);
        left = left.slice(end);
      }
      if (read.length >= answers) break;
    }
    return read;
  };

  it('refuses more messages at a time than a client of ours ever has under way, each with a type', async () => {
    await start();
    const messages = Array.from({ length: 200 }, (_, index) => {
      return { pattern: 'ids.next', id: String(index), data: { count: 10_000, code: `code ${index}` } };
    });
    const answers = await talk(framed(...messages), 200);
    const [served, refused] = [answers.filter(({ response }) => response), answers.filter(({ err }) => err)];
    expect(served).toHaveLength(64);
    for (const { response } of served) expect(new Set(response!.ids).size).toBe(10_000);
    const detail = 'More than 64 messages on one connection are under way';
    const problem = problemLike(429, 'TOO_MANY_MESSAGES', detail, { retryable: true, retryAfterSeconds: 1 });
    expect(refused.map(({ err }) => err)).toEqual(Array.from({ length: 136 }, () => problem));
    expect(await send('ids.next', { count: 1 })).toEqual({ ids: [expect.any(String)] });
  });

  it.each([
    ['a text', 'abc'],
    ['a number', 5],
    ['nothing', undefined],
    ['null', null],
    ['a list', [{ count: 1 }, { count: 2 }]],
    ['a prototype', JSON.parse('{"__proto__":{"count":5},"count":1}') as object],
    ['no code', { code: null }],
  ])('answers data that are %s with one ID or a typed problem', async (_, data) => {
    await start();
    const [answer] = await talk(framed({ pattern: 'ids.next', id: '1', data }), 1);
    if (answer!.response !== undefined) expect(answer).toMatchObject({ response: { ids: [expect.any(String)] } });
    else expect(answer!.err).toMatchObject({ status: 400, errorCode: expect.stringMatching(/^INVALID_/) as unknown });
  });

  it('issues nothing for a message that wants no answer, and nothing for a pattern it does not know', async () => {
    await start();
    const issued = (): number => demo.app.get(IdService).status().counters.issued;
    const before = issued();
    const messages = [
      { pattern: 'ids.next', data: { count: 10_000 } },
      { pattern: 'ids.gift', data: {} },
    ];
    const wrong = { pattern: { cmd: ['ids.next'] }, id: '1', data: { count: 10_000 } };
    const [answer] = await talk(framed(...messages, wrong), 1);
    const detail = 'There is no pattern {"cmd":["ids.next"]}; legal: ids.next, ids.layout';
    expect(answer).toMatchObject({ id: '1', err: problemLike(404, 'NOT_FOUND', detail) });
    expect(await send('ids.next', { count: 1 })).toEqual({ ids: [expect.any(String)] });
    expect(issued() - before).toBe(1);
  });

  it('has the rate limit of HTTP', async () => {
    await start({ RATE_LIMIT: '3' });
    for (let message = 0; message < 3; message++) await send('ids.next', { count: 1 });
    const told = { retryable: true, retryAfterSeconds: expect.any(Number) as number };
    expect(await refusal({ count: 1 })).toEqual(
      problemLike(429, 'RATE_LIMITED', 'More than 3 requests a minute', told),
    );
  });

  it('answers what is under way when the service closes', async () => {
    await start({});
    // More than a second has for one code: the last ones wait.
    const asked = Array.from({ length: 40 }, () => send('ids.next', { count: 10_000, code: 'many' }));
    await asked[0];
    await demo.app.close();
    const answers = (await Promise.all(asked)) as NewIds[];
    const ids = answers.flatMap((answer) => answer.ids);
    expect(ids).toHaveLength(400_000);
    expect(new Set(ids).size).toBe(400_000);
  });

  it('counts every message, whatever it asks for', async () => {
    await start({ RATE_LIMIT: '3' });
    await send('ids.layout', {});
    await send('ids.next', {});
    await expect(send('ids.gift', {})).rejects.toMatchObject({ errorCode: 'NOT_FOUND' });
    for (const pattern of ['ids.layout', 'ids.next', 'ids.gift']) {
      await expect(send(pattern, {})).rejects.toMatchObject({ status: 429, errorCode: 'RATE_LIMITED' });
    }
    // It is the same address.
    expect((await fetch(`${demo.url}/v1/ids`, { method: 'POST' })).status).toBe(429);
  });

  it('refuses in the form of HTTP, with the name of the occurrence and a link to the documentation', async () => {
    await start({
      DOCS_URL: 'https://docs.example/errors.md',
      API_KEYS: KEY,
      API_KEYS_FOR: 'all',
      WORKERS_API_KEYS: OTHER,
    });
    const instance = expect.stringMatching(/^urn:uuid:[\da-f-]{36}$/) as string;
    jest.spyOn(demo.app.get(IdService), 'nextStringsAsync').mockRejectedValueOnce(new LeaseLostError(5, 'away'));
    expect(await refusal({ apiKey: KEY })).toEqual({
      ...{ type: 'https://docs.example/errors.md#lease_lost', title: 'Service Unavailable', status: 503, instance },
      detail: 'No ID can be issued right now. Try again in a moment.',
      ...{ errorCode: 'LEASE_LOST', retryable: true, workerId: 5, retryAfterSeconds: 1 },
    });
    const told = (status: number, errorCode: string): object => ({ type: 'about:blank', status, errorCode, instance });
    expect(await refusal({})).toMatchObject(told(401, 'API_KEY_REQUIRED'));
    expect(await refusal({ apiKey: OTHER })).toMatchObject(told(403, 'API_KEY_NOT_ALLOWED'));
    expect(await refusal({ apiKey: KEY, count: 0 })).toMatchObject(told(400, 'INVALID_INPUT'));
  });

  it('leaves places for others when one address has many connections', async () => {
    await start({});
    const sockets = Array.from({ length: 260 }, () =>
      connect(port, '127.0.0.1')
        .on('error', () => undefined)
        .resume(),
    );
    await until('some to be closed', () => sockets.filter(({ closed }) => closed).length >= 10);
    const text = framed({ pattern: 'ids.next', id: '1', data: {} });
    const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    other.write(text);
    const [answer] = (await once(other, 'data')) as [Buffer];
    expect(String(answer)).toContain('"ids":["');
    for (const socket of [...sockets, other]) socket.destroy();
  });

  it('writes one short line into the log for rubbish, whatever it is and however often it comes', async () => {
    await start({});
    const lines: string[] = [];
    const note = (line: unknown): void => void lines.push(String(line));
    Logger.overrideLogger({ log: note, warn: note, error: note });
    try {
      for (let each = 0; each < 30; each++) {
        const socket = connect(port, '127.0.0.1').on('error', () => undefined);
        socket.end(`60000#{"pattern\r\nFAKE LINE \u001b[31m${'x'.repeat(60_000)}`);
        await once(socket.resume(), 'close');
      }
    } finally {
      Logger.overrideLogger(false);
    }
    expect(lines).toEqual([expect.stringMatching(/^A TCP connection failed: [ -~]{10,200}$/)]);
  });

  it.each([
    ['rubbish', 'GET / HTTP/1.1\r\n\r\n'],
    ['a length that never ends', '9'.repeat(100_000)],
    ['a message that is too long', `200000#${'x'.repeat(100_000)}`],
    ['broken JSON', '5#{{{{{'],
  ])('outlives %s', async (_, bytes) => {
    await start();
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(socket, 'connect');
    socket.end(bytes);
    socket.resume();
    await once(socket, 'close');
    expect(await send('ids.next', { count: 1 })).toEqual({ ids: [expect.any(String)] });
  });
});
