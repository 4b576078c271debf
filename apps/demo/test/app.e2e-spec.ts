import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { AppModule } from '../src/app.module.js';
import type { OrderDto, OrdersPageDto } from '../src/orders/dto/order.dto.js';

const order = { customer: 'Ada', items: ['tea-250g', 'milk-1l'].map((sku) => ({ sku, quantity: 2 })) };

describe('The shop', () => {
  const folder = mkdtempSync(join(tmpdir(), 'shop-'));
  let app: INestApplication;

  beforeAll(async () => {
    process.env.DATABASE = join(folder, 'shop.sqlite');
    app = (await Test.createTestingModule({ imports: [AppModule] }).compile()).createNestApplication();
    await app.listen(0, '127.0.0.1');
  });

  afterAll(async () => {
    await app.close();
    rmSync(folder, { recursive: true });
  });

  async function send(path: string, body?: object): Promise<Response> {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return fetch((await app.getUrl()) + path, body && post);
  }
  const create = async (): Promise<OrderDto> => (await (await send('/orders', order)).json()) as OrderDto;
  const find = async (query: string): Promise<OrdersPageDto> =>
    (await (await send(`/orders?${query}`)).json()) as OrdersPageDto;

  it('saves an order with its items, and finds it again', async () => {
    const created = await create();
    expect(created).toMatchObject(order);
    expect(await (await send(`/orders/${created.id}`)).json()).toEqual(created);
  });

  it('pages by ID, the newest first', async () => {
    const ids = [await create(), await create(), await create()].map(({ id }) => id);
    const first = await find('limit=2');
    const second = await find(`limit=1&after=${first.next}`);
    expect([...first.orders, ...second.orders].map(({ id }) => id)).toEqual(ids.reverse());
  });

  it('finds orders by the time in their IDs', async () => {
    const { id, createdAt, customer } = await create();
    const { orders } = await find(`from=${String(createdAt)}&to=${String(createdAt)}`);
    expect(orders[0]).toEqual({ id, createdAt, customer });
    expect(await find('to=2026-01-01T00:00:00Z')).toEqual({ orders: [], next: null });
  });

  it.each([
    ['/orders/12abc', 400],
    ['/orders/12', 404],
    ['/orders?after=12abc', 400],
    ['/orders?from=yesterday', 400],
  ])('answers %s with %i', async (path, status) => {
    expect((await send(path)).status).toBe(status);
  });

  it.each([{}, { ...order, items: [] }])('refuses %j', async (body) => {
    expect((await send('/orders', body)).status).toBe(400);
  });

  it('makes the tables of its entities by migrations', async () => {
    const { upQueries } = await app.get(DataSource).driver.createSchemaBuilder().log();
    expect(upQueries).toEqual([]);
  });

  it('stays ready and alive without the database', async () => {
    await app.get(DataSource).destroy();
    for (const path of ['/health/ready', '/health/live']) expect((await send(path)).status).toBe(200);
  });
});
