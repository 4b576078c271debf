import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Controller, Logger, Module, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientTCP, MessagePattern, Payload, RpcException, Transport } from '@nestjs/microservices';
import { createLayout } from '@raindrop/core';
import { RemoteIdService } from '../../libs/nestjs/src/remote/remote-id.service.js';
import { remoteIdsTcp } from '../../libs/nestjs/src/remote/tcp/remote-ids-tcp.js';
import { TcpTransport } from '../../libs/nestjs/src/remote/tcp/tcp-transport.js';

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

  let app: INestMicroservice;
  let transport: TcpTransport;
  const { signal } = new AbortController();
  beforeEach(async () => {
    layouts = 0;
    const options = { host: '127.0.0.1', port: 0 };
    app = await NestFactory.createMicroservice(Service, { transport: Transport.TCP, options, logger: false });
    await app.listen();
    const { port } = app.unwrap<Server>().address() as AddressInfo;
    transport = new TcpTransport('a test', new ClientTCP({ host: '127.0.0.1', port }), KEY);
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
  ])('that refuses with %j is understood', async (reason, error) => {
    next = () => {
      throw new RpcException(reason as object);
    };
    const failure = await transport.take(1, undefined, signal).catch((thrown: unknown) => thrown as Error);
    expect(failure).toMatchObject(error);
    expect(inspect(failure)).not.toContain(KEY);
    expect((failure as Error).message).toMatch(/^A test refused/);
  });

  it('that does not answer in time loses its connection, and is asked over another one', async () => {
    next = () => new Promise(() => undefined);
    await expect(transport.take(1, undefined, AbortSignal.timeout(50))).rejects.toThrow('no answer in time');
    next = () => ({ ids: ['5'] });
    await sleep(20);
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
    const opening = RemoteIdService.open(remoteIdsTcp({ port, opTimeoutMs: 30, retryBaseMs: 5 }));
    await expect(opening).rejects.toMatchObject({
      errorCode: 'WAIT_TIMEOUT',
      cause: { errorCode: 'IDS_NOT_READY', cause: { errorCode: 'ID_SOURCE_UNAVAILABLE' } },
    });
  });
});

it.each<[object, string]>([
  [{}, 'port'],
  [{ port: 1, host: 'a b' }, 'host'],
  [{ port: 1, tlsOptions: 'x' }, 'tlsOptions'],
  [{ port: 1, apiKey: 'a b' }, 'apiKey'],
  [{ port: 1, url: 'x' }, 'url'],
])('Options %j are refused', async (options, name) => {
  const opening = RemoteIdService.open(remoteIdsTcp(options as never));
  await expect(opening).rejects.toMatchObject({ errorCode: 'CONFIGURATION', problems: [{ option: name }] });
});

it('Without @nestjs/microservices it says what to install', async () => {
  jest.doMock('@nestjs/microservices', () => {
    const code = 'ERR_MODULE_NOT_FOUND';
    throw Object.assign(new Error(`Cannot find package '@nestjs/microservices' imported from x`), { code });
  });
  try {
    await expect(RemoteIdService.open(remoteIdsTcp({ port: 1 }))).rejects.toMatchObject({
      errorCode: 'CONFIGURATION',
      message: expect.stringContaining('npm install @nestjs/microservices') as unknown,
    });
  } finally {
    jest.dontMock('@nestjs/microservices');
  }
});
