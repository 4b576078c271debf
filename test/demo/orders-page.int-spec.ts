import type { INestApplicationContext } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropModule } from '@raindrop/nestjs';
import { DataSource, MoreThan, type Repository } from 'typeorm';
import { Order, OrderItem } from '../../apps/demo/src/database/order.entity.js';
import { OrdersService } from '../../apps/demo/src/orders/orders.service.js';
import { OPTIONS, startApp, typeorm, useDatabase } from '../module/module-fixture.js';
import { databaseKinds } from '../servers/test-databases.js';

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
