import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { IdService } from '@raindrop/nestjs';
import { AppModule } from './app.module.js';
import { OrdersController } from './orders.controller.js';

describe('the app in jest', () => {
  let app: INestApplicationContext;

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = await module.init();
  });

  afterAll(() => app.close());

  it('issues IDs and fills entities', async () => {
    const id = app.get(IdService).nextId();
    const order = await app.get(OrdersController).save({ customer: 'Ada' });

    expect(app.get(IdService).parse(id).workerId).toBe(7);
    expect(BigInt(order.id)).toBeGreaterThan(id);
  });
});
