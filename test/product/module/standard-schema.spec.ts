import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  Module,
  Param,
  Post,
  Query,
  SerializeOptions,
  StandardSchemaSerializerInterceptor,
  StandardSchemaValidationPipe,
  type StandardSchemaSerializerContextOptions,
} from '@nestjs/common';
import { APP_INTERCEPTOR, APP_PIPE, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiResponse, DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { idSchema, ParseIdPipe, typedId, type TypedId } from '@raindrop/nestjs';
import { publicIds } from '@raindrop/nestjs/public-ids';
import { zodId } from '@raindrop/nestjs/zod';
import { z } from 'zod';

const id = 30_077_675_337_940_996n;
const codec = publicIds({ keys: { k1: '00112233445566778899aabbccddeeff' }, current: 'k1', purpose: 'order' });
const shown = codec.encode(id);
const customer = typedId('customer').encode(7n);

const orderSchema = idSchema({ codec });
const customerSchema = idSchema({ prefix: 'customer' });
const orderId = zodId({ codec, as: 'bigint' });
const NewReturn = z.object({ order: orderId, customer: zodId({ prefix: 'customer' }), after: zodId().optional() });
const OrderView = z.object({
  id: z.invertCodec(orderId),
  customer: z.string(),
  previous: z.invertCodec(orderId).nullable(),
});

@Controller()
class OrdersController {
  @Get('orders/:id')
  find(@Param('id', { schema: orderSchema }) order: string): unknown {
    return { order };
  }

  @Get('piped/:id')
  piped(@Param('id', new ParseIdPipe({ codec })) order: string): unknown {
    return { order };
  }

  @Get('orders')
  list(@Query('customer', { schema: customerSchema }) whose: TypedId<'customer'>): unknown {
    return { whose };
  }

  @Post('returns')
  place(@Body({ schema: NewReturn }) body: z.output<typeof NewReturn>): unknown {
    return { ...body, order: `${typeof body.order} ${body.order}` };
  }

  @Get('views/one')
  @SerializeOptions({ schema: OrderView })
  @ApiResponse({ status: 200, standardSchema: OrderView })
  view(): z.input<typeof OrderView> {
    return { id, customer: 'Ada', previous: null };
  }

  @Get('views/many')
  @SerializeOptions({ schema: OrderView })
  views(): z.input<typeof OrderView>[] {
    return [1n, 2n].map((each) => ({ id: each, customer: 'Ada', previous: each - 1n }));
  }

  @Get('views/wrong')
  @SerializeOptions({ schema: OrderView })
  wrong(): unknown {
    return { id: `${id}`, customer: 'Ada', previous: null };
  }
}

@Module({
  controllers: [OrdersController],
  providers: [
    { provide: APP_PIPE, useClass: StandardSchemaValidationPipe },
    { provide: APP_INTERCEPTOR, useClass: StandardSchemaSerializerInterceptor },
  ],
})
class AppModule {}

describe("Nest's pipe and interceptor for Standard Schema", () => {
  let app: NestFastifyApplication;
  let document: OpenAPIObject;

  beforeAll(async () => {
    app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false });
    document = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    await app.init();
  });

  afterAll(() => app.close());

  const get = async (url: string): Promise<{ status: number; body: unknown }> => {
    const { statusCode, body } = await app.inject({ method: 'GET', url });
    return { status: statusCode, body: JSON.parse(body) as unknown };
  };
  const post = async (payload: object): Promise<{ status: number; body: unknown }> => {
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/returns', payload });
    return { status: statusCode, body: JSON.parse(body) as unknown };
  };

  it('give a handler the ID of a public and of a typed one', async () => {
    expect(await get(`/orders/${shown}`)).toEqual({ status: 200, body: { order: `${id}` } });
    expect(await get(`/orders?customer=${customer}`)).toEqual({ status: 200, body: { whose: customer } });
  });

  it('answer a plain ID in place of a public one with the words of ParseIdPipe', async () => {
    const piped = await get(`/piped/${id}`);
    const { message } = piped.body as { message: string };
    expect(message).toMatch(/^id must be the id of a key \(k1\) followed by 11 characters/);
    const { status, body } = await get(`/orders/${id}`);
    expect(status).toBe(400);
    expect(body).toEqual({ ...(piped.body as object), message: [message.replace(/^id /, '')] });
    expect((await get('/orders')).body).toMatchObject({ message: [expect.stringMatching(/^must be customer_ /)] });
  });

  it('read the IDs in an object of Zod, each in its form', async () => {
    expect(await post({ order: shown, customer, after: '12' })).toEqual({
      status: 201,
      body: { order: `bigint ${id}`, customer, after: '12' },
    });
    const { status, body } = await post({ order: `${id}`, after: 12 });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      message: [
        expect.stringMatching(/^order: must be the id of a key \(k1\) followed by 11 characters/),
        expect.stringMatching(/^customer: must be customer_ followed by exactly 11 characters/),
        'after: must be 1 to 19 characters of 0-9, without a leading 0, up to 9223372036854775807 (2^63 - 1)',
      ],
    });
  });

  it('show the ID of a row, which needs no class, as its public text', async () => {
    expect((await get('/views/one')).body).toEqual({ id: shown, customer: 'Ada', previous: null });
    expect((await get('/views/many')).body).toEqual([
      { id: codec.encode(1n), customer: 'Ada', previous: codec.encode(0n) },
      { id: codec.encode(2n), customer: 'Ada', previous: codec.encode(1n) },
    ]);
  });

  it('answer 500 in place of an ID in another form than the schema says', async () => {
    const { status, body } = await get('/views/wrong');
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain(`${id}`);
  });

  it('are types of the standard', () => {
    // The types of @standard-schema/spec, as Nest and its OpenAPI module take them.
    const schemas: StandardSchemaSerializerContextOptions['schema'][] = [orderSchema, orderSchema.encoder];
    ApiResponse({ standardSchema: orderSchema });
    const text: NonNullable<(typeof customerSchema)['~standard']['types']>['output'] = customer;
    const typed: TypedId<'customer'> = text;
    const held: bigint = NewReturn.parse({ order: shown, customer }).order;
    // @ts-expect-error the row holds a bigint
    const row: z.input<typeof OrderView> = { id: '1', customer, previous: null };
    expect([schemas.length, typed, held, row.customer]).toEqual([2, customer, id, customer]);
  });

  describe('with OpenAPI', () => {
    const publicText = {
      description: 'A 63-bit ID, as text: a number would be rounded.',
      type: 'string',
      maxLength: 13,
      example: codec.encode(4_094_321_512_251_394n),
    };

    it('describe a parameter', () => {
      expect(document.paths['/orders/{id}']!.get!.parameters).toEqual([
        { name: 'id', in: 'path', required: true, description: publicText.description, schema: publicText },
      ]);
      expect(document.paths['/orders']!.get!.parameters).toMatchObject([
        { name: 'customer', in: 'query', schema: { type: 'string', pattern: '^customer_[0-9A-Za-z]{11}$' } },
      ]);
    });

    it('describe the IDs in a body and in an answer of Zod', () => {
      expect(bodyOf(document.paths['/returns']!.post!.requestBody)).toMatchObject({
        properties: {
          order: publicText,
          customer: { type: 'string', pattern: '^customer_[0-9A-Za-z]{11}$', maxLength: 20 },
          after: { type: 'string', format: 'int64', pattern: '^(0|[1-9][0-9]{0,18})$', example: '4094321512251394' },
        },
        required: ['order', 'customer'],
      });
      expect(bodyOf(document.paths['/views/one']!.get!.responses['200'])).toMatchObject({
        properties: { id: publicText },
      });
    });
  });
});

/** The schema of the JSON of a request or an answer. */
function bodyOf(described: unknown): unknown {
  return (described as { content: Record<string, { schema: unknown }> }).content['application/json']!.schema;
}
