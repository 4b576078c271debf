import { Test, type TestingModule } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RaindropTestbed, RaindropTestingModule } from '@raindrop/nestjs/testing';
import { OrdersModule } from './orders.module.js';
import { OrdersService } from './orders.service.js';

const database = { type: 'better-sqlite3', database: ':memory:', autoLoadEntities: true, synchronize: true } as const;
const items = [{ sku: 'tea-250g', quantity: 2 }];

describe('OrdersService', () => {
  let module: TestingModule;
  let orders: OrdersService;
  let testbed: RaindropTestbed;

  beforeEach(async () => {
    const ids = RaindropTestingModule.forTest({ now: '2026-11-26' });
    module = await Test.createTestingModule({
      imports: [TypeOrmModule.forRoot(database), ids, OrdersModule],
    }).compile();
    orders = module.get(OrdersService);
    testbed = module.get(RaindropTestbed);
  });

  afterEach(() => module.close());

  it('saves an order and its items under the same IDs in every run', async () => {
    expect(await orders.create({ customer: 'Ada', items })).toMatchObject({
      id: '98337571210264576',
      createdAt: new Date('2026-11-26'),
      items: [{ id: '98337571210264578' }],
    });
  });

  it('finds the orders of a time span by their IDs', async () => {
    for (const customer of ['Ada', 'Bob', 'Eve']) {
      await orders.create({ customer, items });
      await testbed.clock.advance(60_000);
    }
    const page = await orders.findPage({ from: new Date('2026-11-26T00:00:30Z') });
    expect(page.orders.map(({ customer }) => customer)).toEqual(['Eve', 'Bob']);
  });

  it('saves an order when the lost lease is back', async () => {
    testbed.loseLease();
    const created = orders.create({ customer: 'Ada', items });
    await testbed.clock.advance(5_000);
    testbed.regainLease();
    expect((await created).createdAt).toEqual(new Date('2026-11-26T00:00:05Z'));
  });
});
