import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { inspect } from 'node:util';
import { Controller, Logger, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, Payload, RpcException, Transport } from '@nestjs/microservices';
import { createLayout } from '@raindrop/core';
import { generate } from 'selfsigned';
import { openIdService, type IdService } from '@raindrop/node';
import { loadClientTcp, remoteIdsTcp } from '../../libs/nestjs/src/remote/tcp/remote-ids-tcp.js';
import { TcpTransport } from '../../libs/nestjs/src/remote/tcp/tcp-transport.js';
import type { RemoteAnswer } from '../../libs/node/src/remote/remote-batch-source.js';

const KEY = 'a-key-that-nobody-may-see';
const LAYOUT = createLayout(
  { startTimeStamp: '2024-01-01', timeStampLength: 33, workIdLength: 10 },
  Date.parse('2026-01-01'),
);

beforeAll(() => void Logger.overrideLogger(false));

describe('A Nest microservice', () => {
  let next: (data: object) => unknown;
  let layouts: number;

  @Controller()
  class Ids {
    @MessagePattern('ids.next')
    next(@Payload() data: object): unknown {
      return next(data);
    }

    @MessagePattern('ids.layout')
    layout(): string {
      layouts++;
      return LAYOUT.fingerprint;
    }
  }

  @Module({ controllers: [Ids] })
  class Service {}

  @Module({})
  class Strange {}

  let app: INestMicroservice;
  let transport: TcpTransport;
  const { signal } = new AbortController();
  beforeEach(async () => {
    layouts = 0;
    const options = { host: '127.0.0.1', port: 0 };
    app = await NestFactory.createMicroservice(Service, { transport: Transport.TCP, options, logger: false });
    await app.listen();
    const { port } = app.unwrap<Server>().address() as AddressInfo;
    const newClient = await loadClientTcp();
    transport = new TcpTransport('a test', () => newClient({ host: '127.0.0.1', port }), KEY);
  });
  afterEach(async () => {
    transport.close();
    await app.close();
  });

  it('is told what is wanted and the key, and is asked for its layout once a connection', async () => {
    const asked: object[] = [];
    next = (data) => ({ ids: [String(asked.push(data))] });
    expect(await transport.take(7, 'a', signal)).toEqual({ ids: ['1'], layout: LAYOUT.fingerprint });
    expect(await transport.take(8, undefined, signal)).toEqual({ ids: ['2'], layout: LAYOUT.fingerprint });
    expect(asked).toEqual([
      { count: 7, code: 'a', apiKey: KEY },
      { count: 8, apiKey: KEY },
    ]);
    expect(layouts).toBe(1);
    expect(inspect(transport, { depth: 0, showHidden: true })).not.toContain(KEY);
  });

  it.each<[unknown, object]>([
    [
      { status: 400, detail: 'no', errorCode: 'INVALID_CODE', retryable: false },
      { errorCode: 'INVALID_CODE', status: 400, retryable: false },
    ],
    [
      { status: 401, detail: `not ${KEY}` },
      { errorCode: 'REMOTE_IDS_REFUSED', retryable: false },
    ],
    ['busy', { errorCode: 'REMOTE_IDS_REFUSED', retryable: true, status: undefined }],
    [
      { status: 429, errorCode: 'TOO_MANY_MESSAGES', retryAfterSeconds: 2, retryable: true },
      { errorCode: 'TOO_MANY_MESSAGES', status: 429, retryable: true, retryAfterMs: 2_000 },
    ],
    ['x'.repeat(500_000), { errorCode: 'REMOTE_IDS_REFUSED', message: 'A test refused: it does not say why' }],
  ])('that refuses with %j is understood', async (reason, error) => {
    next = () => {
      throw new RpcException(reason as object);
    };
    const failure = await transport.take(1, undefined, signal).catch((thrown: unknown) => thrown as Error);
    expect(failure).toMatchObject(error);
    expect(inspect(failure)).not.toContain(KEY);
    expect((failure as Error).message).toMatch(/^A test refused/);
  });

  it('that does not know the pattern is no ID service', async () => {
    const newClient = await loadClientTcp();
    const strange = await NestFactory.createMicroservice(Strange, {
      ...{ transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 }, logger: false },
    });
    await strange.listen();
    const { port } = strange.unwrap<Server>().address() as AddressInfo;
    const way = new TcpTransport('a test', () => newClient({ host: '127.0.0.1', port }), KEY);
    await expect(way.take(1, undefined, signal)).rejects.toMatchObject({
      ...{ status: 404, retryable: false },
      message: expect.stringContaining('Is it an ID service? It was asked ids.layout and ids.next.') as unknown,
    });
    way.close();
    await strange.close();
  });

  it('that is slow for one code answers the others meanwhile, over the same connection', async () => {
    let release!: (answer: object) => void;
    next = (data) => {
      const { code } = data as { code?: string };
      if (code === 'slow') return new Promise<object>((resolve) => (release = resolve));
      return { ids: [code === 'a' ? '7' : '9'] };
    };
    await transport.take(1, 'a', signal);
    const slow = new AbortController();
    const waiting = transport.take(1, 'slow', slow.signal);
    expect(await transport.take(1, 'a', signal)).toMatchObject({ ids: ['7'] });
    slow.abort();
    await expect(waiting).rejects.toThrow('no answer in time');
    // Its answer comes late, and is nobody's.
    release({ ids: ['666'] });
    expect(await transport.take(1, 'b', signal)).toMatchObject({ ids: ['9'] });
    expect(layouts).toBe(1);
  });

  it('is asked for nothing after the end', async () => {
    next = () => new Promise(() => undefined);
    const waiting = transport.take(1, undefined, signal);
    transport.close();
    await expect(waiting).rejects.toThrow();
    await expect(transport.take(1, undefined, signal)).rejects.toThrow('this client is closed');
    await expect(transport.take(1, undefined, AbortSignal.abort())).rejects.toThrow();
  });

  it('that does not answer in time loses its connection, and is asked over another one', async () => {
    const patience = new AbortController();
    next = () => {
      patience.abort();
      return new Promise(() => undefined);
    };
    await expect(transport.take(1, undefined, patience.signal)).rejects.toThrow('no answer in time');
    next = () => ({ ids: ['5'] });
    expect(await transport.take(1, undefined, signal)).toMatchObject({ ids: ['5'] });
    expect(layouts).toBe(2);
  });
});

describe('Something else at the port', () => {
  let server: Server;
  let talk: (socket: Socket) => void;
  beforeEach(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      talk(socket);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => void server.close());

  it.each<[string, (socket: Socket) => void]>([
    ['hangs up', (socket) => socket.destroy()],
    ['speaks HTTP', (socket) => socket.once('data', () => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n#'))],
    ['sends no JSON', (socket) => socket.once('data', () => socket.write('3#{x}'))],
    ['sends without an end', (socket) => socket.once('data', () => socket.write('9'.repeat(2_000_000)))],
  ])('that %s is a service which cannot be reached', async (_, says) => {
    talk = says;
    const { port } = server.address() as AddressInfo;
    const opening = openIdService({ idSource: remoteIdsTcp({ port, opTimeoutMs: 100, retryBaseMs: 5 }) });
    await expect(opening).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      cause: { errorCode: 'IDS_NOT_READY', cause: { errorCode: 'ID_SOURCE_UNAVAILABLE' } },
    });
  });
});

/** Nest's framing. */
const framed = (message: object): string => {
  const json = JSON.stringify(message);
  return `${json.length}#${json}`;
};

describe('A connection that is lost between two questions', () => {
  it('is not made anew in the middle of them: the process behind the next one may have another layout', async () => {
    const talks: string[][] = [];
    const server = createServer((socket) => {
      const talk: string[] = [];
      talks.push(talk);
      socket.on('error', () => undefined).setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        const { id, pattern } = JSON.parse(chunk.slice(chunk.indexOf('#') + 1)) as { id: string; pattern: string };
        talk.push(pattern);
        const isFirst = talks.length === 1;
        const response = pattern === 'ids.next' ? { ids: ['5'] } : isFirst ? 'the old layout' : LAYOUT.fingerprint;
        socket.write(framed({ id, response, isDisposed: true }));
        if (isFirst) socket.destroySoon();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const newClient = await loadClientTcp();
    const way = new TcpTransport('a test', () => newClient({ host: '127.0.0.1', port }), undefined);
    const { signal } = new AbortController();
    let answer: RemoteAnswer | undefined;
    while (answer === undefined) answer = await way.take(1, undefined, signal).catch(() => undefined);
    expect(answer).toEqual({ ids: ['5'], layout: LAYOUT.fingerprint });
    expect(talks.at(-1)).toEqual(['ids.layout', 'ids.next']);
    way.close();
    server.close();
  });
});

describe('Over TLS', () => {
  let certificate: { readonly key: string; readonly cert: string };
  let server: Server;
  let heard: string[];

  beforeAll(async () => {
    const altNames = [{ type: 7, ip: '127.0.0.1' } as const];
    const made = await generate(undefined, { keyType: 'ec', extensions: [{ name: 'subjectAltName', altNames }] });
    certificate = { key: made.private, cert: made.cert };
  });

  beforeEach(async () => {
    const mine: string[] = [];
    heard = mine;
    server = createTlsServer(certificate, (socket) => {
      socket.on('error', () => undefined).setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        mine.push(chunk);
        const { id, pattern } = JSON.parse(chunk.slice(chunk.indexOf('#') + 1)) as { id: string; pattern: string };
        const response = pattern === 'ids.next' ? { ids: ['5'] } : LAYOUT.fingerprint;
        socket.write(framed({ id, response, isDisposed: true }));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => void server.close());

  const open = (tlsOptions: object): Promise<IdService> => {
    const { port } = server.address() as AddressInfo;
    return openIdService({
      idSource: remoteIdsTcp({ port, tlsOptions, apiKey: KEY, opTimeoutMs: 20_000, retryBaseMs: 5 }),
    });
  };

  it('IDs come from a service whose certificate is good', async () => {
    const ids = await open({ ca: certificate.cert });
    expect(await ids.nextIdAsync()).toBe(5n);
    expect(heard.join()).toContain(KEY);
    await ids.close();
  });

  it('a service whose certificate is not hears nothing, least of all the key', async () => {
    const transport = new TcpTransport(
      'a test',
      await loadClientTcp().then((newClient) => () => {
        return newClient({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, tlsOptions: {} });
      }),
      KEY,
    );
    for (let attempt = 0; attempt < 5; attempt++) {
      const failure = transport.take(1, undefined, new AbortController().signal);
      await expect(failure).rejects.toThrow('DEPTH_ZERO_SELF_SIGNED_CERT');
    }
    expect(heard).toEqual([]);
    transport.close();
  });
});

it.each([
  ['127.0.0.1', 'tcp://127.0.0.1:1'],
  ['::1', 'tcp://[::1]:1'],
  ['ids.internal', 'tcp://ids.internal:1'],
])('A service at %s is called %s', async (host, name) => {
  const opening = openIdService({ idSource: remoteIdsTcp({ host, port: 1, opTimeoutMs: 100 }) });
  await expect(opening).rejects.toMatchObject({ cause: { cause: { source: `the ID service at ${name}` } } });
});

it.each<[object, string]>([
  [{}, 'port'],
  [{ port: 1, host: 'a b' }, 'host'],
  [{ port: 1, tlsOptions: 'x' }, 'tlsOptions'],
  [{ port: 1, tlsOptions: { ca: 'x', key: 'no key' } }, 'tlsOptions'],
  [{ port: 1, codes: [''] }, 'codes'],
  [{ port: 1, apiKey: 'a b' }, 'apiKey'],
  [{ port: 1, url: 'x' }, 'url'],
])('Options %j are refused', async (options, name) => {
  const opening = openIdService({ idSource: remoteIdsTcp(options as never) });
  await expect(opening).rejects.toMatchObject({ errorCode: 'CONFIGURATION', problems: [{ option: name }] });
});

it('Without @nestjs/microservices it says what to install', async () => {
  jest.doMock('@nestjs/microservices', () => {
    const code = 'ERR_MODULE_NOT_FOUND';
    throw Object.assign(new Error(`Cannot find package '@nestjs/microservices' imported from x`), { code });
  });
  try {
    await expect(openIdService({ idSource: remoteIdsTcp({ port: 1 }) })).rejects.toMatchObject({
      errorCode: 'CONFIGURATION',
      message: expect.stringContaining('npm install @nestjs/microservices') as unknown,
    });
  } finally {
    jest.dontMock('@nestjs/microservices');
  }
});
