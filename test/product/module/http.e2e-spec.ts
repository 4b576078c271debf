import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  Body,
  ClassSerializerInterceptor,
  Controller,
  Get,
  Module,
  Param,
  Post,
  Query,
  Sse,
  StreamableFile,
  UseInterceptors,
  ValidationPipe,
  type INestApplication,
  type MessageEvent,
  type Type,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory, type AbstractHttpAdapter } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { typedId } from '@raindrop/core';
import { BigIntInterceptor, ParseIdPipe } from '@raindrop/nestjs';
import { IsSnowflake } from '@raindrop/nestjs/class-validator';
import { Exclude } from 'class-transformer';
import { of, type Observable } from 'rxjs';

const id = 2n ** 63n - 1n;
const order = typedId('order').encode(id);

class Account {
  readonly id = id;

  @Exclude()
  readonly password = 'secret';
}

class Page {
  @IsSnowflake()
  readonly after!: string;
}

@Controller()
class EchoController {
  @Get('decimal/:id')
  decimal(@Param('id', ParseIdPipe) each: string): unknown {
    return { type: typeof each, each };
  }

  @Get('bigint/:id')
  bigint(@Param('id', new ParseIdPipe({ as: 'bigint' })) each: bigint): unknown {
    return { type: typeof each, each };
  }

  @Get('typed/:id')
  typed(@Param('id', new ParseIdPipe({ prefix: 'order' })) each: string): unknown {
    return { type: typeof each, each };
  }

  @Get('query')
  query(@Query('after', new ParseIdPipe({ optional: true })) each?: string): unknown {
    return { type: typeof each, each };
  }

  @Get('page')
  page(@Query() { after }: Page): unknown {
    return { after };
  }

  @Post('body')
  body(@Body('id', ParseIdPipe) each: string): unknown {
    return { type: typeof each, each };
  }
}

@Controller('answers')
class AnswersController {
  @Get('plain')
  plain(): unknown {
    return { id, list: [{ id }], when: new Date(0), text: 'x' };
  }

  @Get('alone')
  alone(): unknown {
    return [id];
  }

  @Get('bytes')
  bytes(): StreamableFile {
    return new StreamableFile(Readable.from([Buffer.from('by'), Buffer.from('tes')]));
  }

  @Sse('events')
  events(): Observable<MessageEvent> {
    return of({ data: { id } });
  }

  @Get('account')
  @UseInterceptors(ClassSerializerInterceptor)
  account(): Account {
    return new Account();
  }

  @Get('account-the-other-way-round')
  @UseInterceptors(ClassSerializerInterceptor, BigIntInterceptor)
  accountTheOtherWayRound(): Account {
    return new Account();
  }

  @Get('cycle')
  cycle(): unknown {
    const value: Record<string, unknown> = { n: 1 };
    value['self'] = value;
    return value;
  }
}

@Module({ controllers: [EchoController, AnswersController] })
class BareModule {}

@Module({ imports: [BareModule], providers: [{ provide: APP_INTERCEPTOR, useClass: BigIntInterceptor }] })
class AppModule {}

/** Every platform that is installed. */
const platforms: [string, () => AbstractHttpAdapter][] = [['fastify', () => new FastifyAdapter()]];
try {
  const { ExpressAdapter } =
    jest.requireActual<Record<string, new () => AbstractHttpAdapter>>('@nestjs/platform-express');
  platforms.push(['express', () => new ExpressAdapter!()]);
} catch {
  // Not installed.
}

describe.each(platforms)('On %s', (_, adapter) => {
  let app: INestApplication;
  let url: string;

  const start = async (module: Type): Promise<void> => {
    app = await NestFactory.create(module, adapter(), { logger: false });
    app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
    await app.listen(0, '127.0.0.1');
    url = `http://127.0.0.1:${(app.getHttpServer() as { address(): AddressInfo }).address().port}`;
  };
  const get = async (path: string, init?: RequestInit): Promise<[number, unknown]> => {
    const answer = await fetch(url + path, init);
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
    return [answer.status, isJson ? JSON.parse(text) : text];
  };

  describe('with BigIntInterceptor', () => {
    beforeAll(() => start(AppModule));
    afterAll(() => app.close());

    it.each([
      [`/decimal/${id}`, { type: 'string', each: `${id}` }],
      [`/bigint/${id}`, { type: 'bigint', each: `${id}` }],
      [`/typed/${order}`, { type: 'string', each: order }],
      [`/query?after=${id}`, { type: 'string', each: `${id}` }],
      ['/query', { type: 'undefined' }],
      [`/page?after=${id}`, { after: `${id}` }],
    ])('a handler gets its ID: %s', async (path, expected) => {
      expect(await get(path)).toEqual([200, expected]);
    });

    it.each([
      ['/decimal/01', 'id'],
      ['/decimal/%00', 'id'],
      ['/decimal/1%27%20OR%201=1', 'id'],
      [`/bigint/${id + 1n}`, 'id'],
      ['/typed/order_', 'id'],
      [`/typed/${id}`, 'id'],
      ['/query?after=', 'after'],
      ['/query?after=1&after=2', 'after'],
      ['/query?after[a]=1&after=x', 'after'],
    ])('rubbish is a 400: %s', async (path, name) => {
      expect(await get(path)).toEqual([
        400,
        { statusCode: 400, error: 'Bad Request', message: expect.stringMatching(`^${name} must be `) as string },
      ]);
    });

    it('a field of a body is read, unless it is a number that may have lost digits', async () => {
      const post = (body: string): Promise<[number, unknown]> =>
        get('/body', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
      expect(await post(`{"id":"${id}"}`)).toEqual([201, { type: 'string', each: `${id}` }]);
      for (const body of [`{"id":${id}}`, '{"id":1}', '{"id":{"x":1}}', '{}', '[]'])
        expect((await post(body))[0]).toBe(400);
    });

    it.each<[string, unknown]>([
      ['plain', { id: `${id}`, list: [{ id: `${id}` }], when: '1970-01-01T00:00:00.000Z', text: 'x' }],
      ['alone', [`${id}`]],
      ['bytes', 'bytes'],
      ['account', { id: `${id}` }],
      ['account-the-other-way-round', { id: `${id}` }],
    ])('an answer is written: %s', async (path, expected) => {
      expect(await get(`/answers/${path}`)).toEqual([200, expected]);
    });

    it('an event is written', async () => {
      expect((await get('/answers/events'))[1]).toContain(`data: {"id":"${id}"}`);
    });

    it('a cycle is the 500 that it was', async () => {
      expect((await get('/answers/cycle'))[0]).toBe(500);
    });
  });

  it('a bigint is a 500 without it', async () => {
    await start(BareModule);
    try {
      expect((await get('/answers/plain'))[0]).toBe(500);
    } finally {
      await app.close();
    }
  });
});
