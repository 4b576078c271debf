import 'reflect-metadata';
import type { AddressInfo, Server } from 'node:net';
import { Controller, Get, Header, Logger, Module, NotFoundException, Param, Res } from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  InvalidBatchError,
  InvalidCodeError,
  InvalidIdError,
  RaindropExceptionFilter,
  SequenceExhaustedError,
  ShortIdRepeatError,
  StoreUnavailableError,
  UnknownAppError,
  UnsafeIntegerError,
} from '@raindrop/nestjs';
import { RemoteIdsRefusedError } from '@raindrop/node/remote';
import { lastValueFrom } from 'rxjs';

const SECRET = 'Access denied for user root';

const errors: Readonly<Record<string, () => Error>> = {
  'invalid-id': () => new InvalidIdError('decimal', 'x', '1 to 19 characters of 0-9'),
  'invalid-batch': () => new InvalidBatchError(0, 100),
  'invalid-code': () => new InvalidCodeError(''),
  'unknown-app': () => new UnknownAppError(7),
  store: () => new StoreUnavailableError('renew', new Error(SECRET)),
  exhausted: () => new SequenceExhaustedError(17, new Date(Date.now() + 29_500)),
  repeat: () => new ShortIdRepeatError(60, 4_001),
  remote: () =>
    new RemoteIdsRefusedError('http://127.0.0.1', {
      status: 429,
      errorCode: 'RATE_LIMITED',
      detail: 'later',
      retryable: true,
      retryAfterMs: 12_000,
    }),
  unsafe: () => new UnsafeIntegerError(null),
  other: () => new TypeError(SECRET),
  nest: () => new NotFoundException('No such order'),
};

@Controller()
class FailingController {
  @Get('fail/:how')
  fail(@Param('how') how: string): never {
    throw errors[how]!();
  }

  @Get('begun')
  @Header('content-type', 'text/plain')
  begun(@Res() response: { raw?: NodeJS.WritableStream; write?: (text: string) => void; hijack?: () => void }): never {
    (response.raw ?? (response as NodeJS.WritableStream)).write('begun');
    throw errors['store']!();
  }

  @MessagePattern('fail')
  message(how: string): never {
    throw errors[how]!();
  }
}

@Module({ controllers: [FailingController], providers: [{ provide: APP_FILTER, useClass: RaindropExceptionFilter }] })
class AppModule {}

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly retryAfter: string | null;
  readonly body: unknown;
}

const platforms: [string, () => AbstractHttpAdapter][] = [
  ['fastify', () => new FastifyAdapter()],
  ['express', () => new ExpressAdapter()],
];

describe.each(platforms)('RaindropExceptionFilter on %s', (_, adapter) => {
  let close: () => Promise<void>;
  let url: string;
  const logged: string[] = [];

  beforeAll(async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation((message: unknown) => void logged.push(String(message)));
    jest.spyOn(Logger.prototype, 'error').mockImplementation((message: unknown) => void logged.push(String(message)));
    const app = await NestFactory.create(AppModule, adapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer() as { address(): AddressInfo }).address().port}`;
    close = () => app.close();
  });

  afterAll(async () => {
    await close();
    jest.restoreAllMocks();
  });

  const get = async (path: string): Promise<Answer> => {
    const answer = await fetch(url + path);
    return {
      status: answer.status,
      type: answer.headers.get('content-type'),
      retryAfter: answer.headers.get('retry-after'),
      body: await answer.json(),
    };
  };

  it.each([
    ['invalid-id', 400, 'Bad Request', 'INVALID_ID'],
    ['invalid-batch', 400, 'Bad Request', 'INVALID_BATCH'],
    ['invalid-code', 400, 'Bad Request', 'INVALID_CODE'],
    ['unknown-app', 404, 'Not Found', 'UNKNOWN_APP'],
  ])('answers %s with %d and says what is wrong', async (how, status, title, errorCode) => {
    const detail = errors[how]!().message;
    expect(await get(`/fail/${how}`)).toEqual({
      status,
      type: 'application/problem+json; charset=utf-8',
      retryAfter: null,
      body: { type: 'about:blank', title, status, detail, errorCode, retryable: false },
    });
  });

  it.each([
    ['store', 'STORE_UNAVAILABLE', /^1$/],
    ['exhausted', 'SEQUENCE_EXHAUSTED', /^(2\d|30)$/],
    ['repeat', 'SHORT_ID_REPEAT', /^5$/],
    ['remote', 'RATE_LIMITED', /^12$/],
  ])('answers %s with 503, when to come again, and no words of a driver', async (how, errorCode, retryAfter) => {
    const answer = await get(`/fail/${how}`);
    expect(answer).toEqual({
      status: 503,
      type: 'application/problem+json; charset=utf-8',
      retryAfter: expect.stringMatching(retryAfter) as string,
      body: {
        type: 'about:blank',
        title: 'Service Unavailable',
        status: 503,
        errorCode,
        retryable: true,
        detail: 'No ID can be issued right now. Try again in a moment.',
      },
    });
  });

  it('leaves to Nest what a client can do nothing about, and what is not of Raindrop', async () => {
    const internal = { statusCode: 500, message: 'Internal server error' };
    const type = 'application/json; charset=utf-8';
    expect(await get('/fail/unsafe')).toEqual({ status: 500, type, retryAfter: null, body: internal });
    expect(await get('/fail/other')).toMatchObject({ status: 500, type, body: internal });
    expect(await get('/fail/nest')).toMatchObject({ status: 404, type, body: { message: 'No such order' } });
  });

  it('logs an outage once, with the words of the driver', async () => {
    for (let asked = 0; asked < 20; asked++) await get('/fail/store');
    expect(logged.filter((line) => line.includes('STORE_UNAVAILABLE'))).toEqual([expect.stringContaining(SECRET)]);
  });

  it('ends an answer that was begun', async () => {
    const answer = await fetch(`${url}/begun`);
    expect([answer.status, await answer.text()]).toEqual([200, 'begun']);
  });
});

it('an instance with the adapter works as a global filter, too', async () => {
  @Module({ controllers: [FailingController] })
  class BareModule {}
  const app = await NestFactory.create(BareModule, new ExpressAdapter(), { logger: false });
  app.useGlobalFilters(new RaindropExceptionFilter(app.getHttpAdapter()));
  await app.listen(0, '127.0.0.1');
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  expect((await fetch(`http://127.0.0.1:${port}/fail/invalid-id`)).status).toBe(400);
  await app.close();
});

it('a message that fails gets the answer that Nest gives without the filter', async () => {
  const options = { host: '127.0.0.1', port: 0 };
  const app = await NestFactory.createMicroservice(AppModule, { transport: Transport.TCP, options, logger: false });
  await app.listen();
  const { port } = app.unwrap<Server>().address() as AddressInfo;
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options: { ...options, port } });
  for (const how of ['store', 'invalid-id', 'other']) {
    const failed = await lastValueFrom(client.send<never>('fail', how)).catch((error: unknown) => error);
    expect(failed).toEqual({ status: 'error', message: 'Internal server error' });
  }
  client.close();
  await app.close();
});

describe('In other contexts', () => {
  const told = jest.fn();
  const hostOf = (type: string): ExecutionContextHost => {
    const host = new ExecutionContextHost([{ emit: told }]);
    host.setType(type);
    return host;
  };
  const filter = new RaindropExceptionFilter();

  beforeEach(() => {
    jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    told.mockClear();
  });
  afterEach(() => jest.restoreAllMocks());

  it.each(['graphql', 'rpc', 'necord'])('it has handled nothing: %s', (type) => {
    const handled = jest.spyOn(BaseExceptionFilter.prototype, 'catch');
    expect(filter.catch(new InvalidCodeError(''), hostOf(type))).toBeUndefined();
    expect(handled).not.toHaveBeenCalled();
    expect(told).not.toHaveBeenCalled();
  });

  it('it tells the client of a gateway, as Nest does', () => {
    filter.catch(new StoreUnavailableError('renew', new Error(SECRET)), hostOf('ws'));
    filter.catch(new UnsafeIntegerError(null), hostOf('ws'));
    expect(told.mock.calls).toEqual([
      [
        'exception',
        {
          status: 'error',
          errorCode: 'STORE_UNAVAILABLE',
          retryable: true,
          message: 'No ID can be issued right now. Try again in a moment.',
        },
      ],
      ['exception', { status: 'error', message: 'Internal server error' }],
    ]);
  });
});
