import { Body, Controller, Get, Module, Post, Query } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { codecs, ConfigurationError, decimal, typedId } from '@raindrop/core';
import { ApiSnowflake, type ApiSnowflakeOptions, ApiSnowflakeParam, ApiSnowflakeQuery } from './swagger.js';

const described = {
  description: 'A 63-bit ID, as text: a number would be rounded.',
  type: 'string',
  format: 'int64',
  pattern: '^(0|[1-9][0-9]{0,18})$',
  maxLength: 19,
};
const example = '4094321512251394';

class Page {
  @ApiSnowflake({ required: false, description: 'The last one seen.' })
  readonly after?: string;
}

class Order {
  @ApiSnowflake()
  readonly id!: string;

  @ApiSnowflake()
  readonly number!: bigint;

  @ApiSnowflake({ prefix: 'customer' })
  readonly customer!: string;

  @ApiSnowflake({ prefix: 'shop', codec: 'base32-padded' })
  readonly shop!: string;

  @ApiSnowflake({ codec: 'base62' })
  readonly short!: string;

  @ApiSnowflake({ isArray: true, minItems: 1 })
  readonly items!: string[];

  @ApiSnowflake({ nullable: true, required: false, example: '7', deprecated: true, name: 'parent_id' })
  readonly parent!: string | null;
}

@Controller()
class OrdersController {
  @Get('orders/:id')
  @ApiSnowflakeParam()
  find(): void {}

  @Get('customers/:customer')
  @ApiSnowflakeParam('customer', { prefix: 'customer', description: 'Whose.' })
  findCustomer(): void {}

  @Get('items')
  @ApiSnowflakeQuery('order', { required: false })
  items(): void {}

  @Get('many')
  @ApiSnowflakeQuery('ids', { isArray: true })
  many(): void {}

  @Get('several/:ids')
  @ApiSnowflakeParam('ids', { isArray: true, prefix: 'customer' })
  several(): void {}

  @Get('repeated')
  @ApiSnowflakeQuery('ids', { isArray: true, required: false, explode: true })
  repeated(): void {}

  @Get('orders')
  list(@Query() page: Page): Page {
    return page;
  }

  @Post('orders')
  create(@Body() order: Order): Order {
    return order;
  }
}

@Module({ controllers: [OrdersController] })
class AppModule {}

describe('The OpenAPI document', () => {
  let document: OpenAPIObject;

  beforeAll(async () => {
    const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false });
    document = SwaggerModule.createDocument(app, new DocumentBuilder().build());
    await app.close();
  });

  it.each<[string, unknown]>([
    ['id', { ...described, example }],
    ['number', { ...described, example }],
    [
      'customer',
      {
        description: 'An ID that begins with customer_.',
        type: 'string',
        pattern: '^customer_[0-9A-Za-z]{11}$',
        maxLength: 20,
        example: typedId('customer').encode(BigInt(example)),
      },
    ],
    [
      'shop',
      {
        description: 'An ID that begins with shop_.',
        type: 'string',
        pattern: '^shop_.+$',
        maxLength: 18,
        example: typedId('shop', 'base32-padded').encode(BigInt(example)),
      },
    ],
    [
      'short',
      {
        description: 'A 63-bit ID, as text: a number would be rounded.',
        type: 'string',
        maxLength: 11,
        example: codecs.base62.encode(BigInt(example)),
      },
    ],
    [
      'items',
      {
        description: described.description,
        type: 'array',
        minItems: 1,
        items: { type: 'string', format: 'int64', pattern: described.pattern, maxLength: 19 },
        example: [example],
      },
    ],
    ['parent_id', { ...described, nullable: true, deprecated: true, example: '7' }],
  ])('describes the property %s', (name, expected) => {
    const order = document.components!.schemas!['Order'] as { properties: Record<string, unknown>; required: string[] };
    expect(order.properties[name]).toEqual(expected);
    expect(order.required.includes(name)).toBe(name !== 'parent_id');
  });

  it.each<[string, unknown]>([
    [
      '/orders/{id}',
      {
        name: 'id',
        in: 'path',
        required: true,
        description: described.description,
        schema: { type: 'string', format: 'int64', pattern: described.pattern, maxLength: 19, example },
      },
    ],
    [
      '/customers/{customer}',
      {
        name: 'customer',
        in: 'path',
        required: true,
        description: 'Whose.',
        schema: {
          type: 'string',
          pattern: '^customer_[0-9A-Za-z]{11}$',
          maxLength: 20,
          example: typedId('customer').encode(BigInt(example)),
        },
      },
    ],
    [
      '/items',
      {
        name: 'order',
        in: 'query',
        required: false,
        description: described.description,
        schema: { type: 'string', format: 'int64', pattern: described.pattern, maxLength: 19, example },
      },
    ],
    [
      '/many',
      {
        name: 'ids',
        in: 'query',
        required: true,
        description: described.description,
        style: 'form',
        explode: false,
        schema: {
          type: 'array',
          items: { type: 'string', format: 'int64', pattern: described.pattern, maxLength: 19 },
          example: [example],
        },
      },
    ],
    [
      '/several/{ids}',
      {
        name: 'ids',
        in: 'path',
        required: true,
        schema: {
          type: 'array',
          items: { type: 'string', pattern: '^customer_[0-9A-Za-z]{11}$', maxLength: 20 },
          example: [typedId('customer').encode(BigInt(example))],
        },
      },
    ],
    ['/repeated', { name: 'ids', in: 'query', required: false, style: 'form', explode: true }],
    [
      '/orders',
      {
        name: 'after',
        in: 'query',
        required: false,
        description: 'The last one seen.',
        schema: { type: 'string', format: 'int64', pattern: described.pattern, maxLength: 19, example },
      },
    ],
  ])('describes the parameter of %s', (path, expected) => {
    expect(document.paths[path]!.get!.parameters).toEqual([expect.objectContaining(expected)]);
  });

  it('has examples and patterns that agree with the codecs', () => {
    expect(decimal.decode(example).toString()).toMatch(new RegExp(described.pattern));
    expect(typedId('customer').encode(2n ** 63n - 1n)).toMatch(/^customer_[0-9A-Za-z]{11}$/);
    expect('007').not.toMatch(new RegExp(described.pattern));
  });
});

it.each([{ prefix: 'Order' }, { codec: 'base99' }])('@ApiSnowflake(%p) is refused at once', (options) => {
  expect(() => ApiSnowflake(options as ApiSnowflakeOptions)).toThrow(ConfigurationError);
  expect(() => ApiSnowflakeParam('id', options as never)).toThrow(ConfigurationError);
});
