import type { INestApplicationContext } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import { DataSource, MoreThan, type Repository } from 'typeorm';
import { Order, OrderItem } from '../../../apps/id-service/src/database/order.entity.js';
import { OrdersService } from '../../../apps/id-service/src/orders/orders.service.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';
import { databaseKinds } from '../../support/servers/test-databases.js';

/** The oldest first; between the third and the fourth the digits become more. */
const IDS = ['7', '999999999999999998', '999999999999999999', '1000000000000000000', '9223372036854775807'];

describe.each(databaseKinds)('Pages of orders on %s', (kind) => {
  const database = useDatabase(kind, 'suite');
  let app: INestApplicationContext;
  let repository: Repository<Order>;

  beforeAll(async () => {
    const entities = [Order, OrderItem];
    app = await startApp(
      [
        typeorm({ ...database.options, entities, synchronize: true }),
        TypeOrmModule.forFeature([Order]),
        RaindropModule.forRoot(OPTIONS),
      ],
      [OrdersService],
    );
    repository = app.get(DataSource).getRepository(Order);
    await repository.save(IDS.map((id) => ({ id, customer: 'Ada', items: [{ sku: 'tea', quantity: 1 }] })));
  });

  afterAll(() => app.close());

  it('the newest first: every order once, with its items, in the order of the numbers', async () => {
    const service = app.get(OrdersService);
    const read: Order[] = [];
    let next: string | null = null;
    do {
      const page = await service.page(next === null ? { limit: 2 } : { limit: 2, after: next });
      read.push(...page.orders);
      next = page.next;
    } while (next !== null);
    expect(read.map(({ id }) => id)).toEqual([...IDS].reverse());
    for (const { items } of read) expect(items).toMatchObject([{ sku: 'tea' }]);
  });

  it('end before the order whose items would be more than 500 of a page, and hold every order whole', async () => {
    const service = app.get(OrdersService);
    const counts = [100, 100, 1, 100, 100, 99, 100, 100, 100, 100, 100, 2];
    const newest: string[] = [];
    for (const count of counts) {
      const items = Array.from({ length: count }, (_, quantity) => ({ sku: 'tea', quantity }));
      newest.unshift((await service.create({ customer: 'Ada', items })).id);
    }
    const pages: number[][] = [];
    const read: Order[] = [];
    for (let after = IDS[1]; read.length < counts.length; after = read.at(-1)!.id) {
      const { orders, next } = await service.page({ limit: 100, after: after! });
      pages.push(orders.map(({ items }) => items.length));
      read.push(...orders);
      expect(next).toBe(pages.length === 3 ? null : orders.at(-1)!.id);
    }
    expect(pages).toEqual([
      [2, 100, 100, 100, 100],
      [100, 99, 100, 100, 1, 100],
      [100, 1],
    ]);
    expect(read.slice(0, counts.length).map(({ id }) => id)).toEqual(newest);
    for (const { items } of read) expect(new Set(items.map(({ quantity }) => quantity)).size).toBe(items.length);
    await repository.delete(newest);
  });

  it('the oldest first, as docs/typeorm.md#pagination-by-id has it', async () => {
    const read: string[] = [];
    for (let after: string | undefined; ; after = read.at(-1)) {
      const found = await repository.find({
        where: after === undefined ? {} : { id: MoreThan(after) },
        order: { id: 'ASC' },
        take: 3,
      });
      read.push(...found.slice(0, 2).map(({ id }) => id));
      if (found.length < 3) break;
    }
    expect(read).toEqual(IDS);
  });
});
