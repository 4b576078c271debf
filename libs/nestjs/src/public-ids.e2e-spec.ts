import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import * as nest from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import * as nestTypeorm from '@nestjs/typeorm';
import * as typeorm from 'typeorm';
import * as core from '@raindrop/core';
import * as raindrop from '@raindrop/nestjs';
import * as raindropTypeorm from '@raindrop/nestjs/typeorm';
import { readDocument, runBlock, typescriptBlocks } from '../../../test/published/docs/typescript-blocks.js';
import { OPTIONS, typeorm as database, useDatabase } from '../../../test/support/module/module-fixture.js';
import * as published from './public-ids.js';

/** What the guide makes, given what its first block makes. */
interface Shop {
  Order: nest.Type<{ id: string; customer: string }>;
  OrdersController: nest.Type;
  viewOrder(order: { id: string; customer: string }): unknown;
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
  text: string;
}

process.env['PUBLIC_ID_KEY_1'] = '000102030405060708090a0b0c0d0e0f';
process.env['PUBLIC_ID_KEY_2'] = '0f0e0d0c0b0a09080706050403020100';

const imported = { ...nest, ...nestTypeorm, ...typeorm, ...core, ...raindrop, ...raindropTypeorm, ...published };
const [make, shop, view, rotate, numbers] = typescriptBlocks(readDocument('docs/http.md#public-ids'));
const { orderIds } = runBlock(make!, imported) as { orderIds: published.PublicIdCodec };
const { rotated } = runBlock(rotate!, imported) as { rotated: published.PublicIdCodec };

function openShop(codec: published.PublicIdCodec): Shop {
  const shown = runBlock(shop!, { ...imported, orderIds: codec });
  return { ...shown, ...runBlock(view!, { ...imported, orderIds: codec }) } as unknown as Shop;
}

const SERIALIZED = { ...OPTIONS, tableName: 'serialized_worker' };

describe.each<[string, raindrop.SnowflakeModuleOptions, readonly nest.Type[]]>([
  ['alone', OPTIONS, []],
  // The order that docs/http.md asks for.
  ['with interceptors', SERIALIZED, [raindrop.BigIntInterceptor, nest.ClassSerializerInterceptor]],
])('The shop of docs/http.md#public-ids, %s', (_, options, interceptors) => {
  const store = useDatabase('sqlite', 'suite');
  const apps: nest.INestApplication[] = [];

  const open = async ({ Order, OrdersController }: Shop) => {
    @nest.Module({
      imports: [
        database({ ...store.options, entities: [Order], synchronize: true }),
        nestTypeorm.TypeOrmModule.forFeature([Order]),
        raindrop.RaindropModule.forRoot(options),
      ],
      controllers: [OrdersController],
      providers: interceptors.map((useClass) => ({ provide: APP_INTERCEPTOR, useClass })),
    })
    class AppModule {}
    const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false, abortOnError: false });
    apps.push(app);
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
    const ask = async (path: string, init?: RequestInit): Promise<Answer> => {
      const answer = await fetch(`http://127.0.0.1:${port}/orders${path}`, init);
      const text = await answer.text();
      return { status: answer.status, text, body: JSON.parse(text) as Record<string, unknown> };
    };
    const create = (customer: string): Promise<Answer> =>
      ask('', {
        method: 'POST',
        body: JSON.stringify({ customer }),
        headers: { 'content-type': 'application/json' },
      });
    return { app, ask, create, rows: () => app.get(typeorm.DataSource).getRepository(Order).find() };
  };

  afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

  it('creates an order, finds it by its public ID, and never shows the plain one', async () => {
    const { ask, create, rows } = await open(openShop(orderIds));
    const created = await create('Ada');
    const found = await ask(`/${String(created.body['id'])}`);
    const [row] = await rows();
    const plain = row!.id;

    expect(plain).toMatch(/^\d{10,19}$/);
    expect(created).toMatchObject({ status: 201, body: { id: orderIds.encode(BigInt(plain)), customer: 'Ada' } });
    expect(found).toEqual({ ...created, status: 200, text: found.text });
    for (const { text } of [created, found]) expect(text).not.toContain(plain);

    const refused = await ask(`/${plain}`);
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching('^id must be ') as string } });
    expect(refused.text).not.toContain(plain);
    // Of the right form, but the ID of nothing.
    expect((await ask(`/${orderIds.encode(BigInt(plain) + 1n)}`)).status).toBe(404);
  });

  it('finds it by the old text after the key was replaced, and shows the new one', async () => {
    const before = await open(openShop(orderIds));
    const { body } = await before.create('Grace');
    await before.app.close();

    const after = await open(openShop(rotated));
    const found = await after.ask(`/${String(body['id'])}`);
    const id = orderIds.decode(body['id'] as string);
    expect(found).toMatchObject({ status: 200, body: { id: rotated.encode(id), customer: 'Grace' } });
    expect(found.body['id']).toMatch(/^k2/);
    expect(await after.ask(`/${String(found.body['id'])}`)).toEqual(found);
    // TypeORM still updates by the plain ID.
    const orders = after.app.get(typeorm.DataSource).manager;
    const order = (await after.rows()).find((each) => each.id === id.toString())!;
    await orders.save(Object.assign(order, { customer: 'Grace H.' }));
    expect((await after.ask(`/${String(body['id'])}`)).body['customer']).toBe('Grace H.');
  });
});

describe('docs/http.md#public-ids', () => {
  it('shows the ID in a view', () => {
    expect(openShop(orderIds).viewOrder({ id: '7', customer: 'Ada' })).toEqual({
      id: orderIds.encode(7n),
      customer: 'Ada',
    });
    expect(readDocument('docs/http.md#public-ids')).toContain(orderIds.encode(30077675337940996n));
  });

  it('shows numbers that JavaScript keeps', () => {
    const { shownNumber, ticketId } = runBlock(numbers!, imported);
    expect(Number.isSafeInteger(shownNumber)).toBe(true);
    expect(ticketId).toBe(4503599627370497n);
  });
});
