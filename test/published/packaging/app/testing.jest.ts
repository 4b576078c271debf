import { Test } from '@nestjs/testing';
import { getRepositoryToken } from '@nestjs/typeorm';
import { LeaseLostError } from '@raindrop/core';
import { RaindropTestbed, RaindropTestingModule } from '@raindrop/nestjs/testing';
import { Order } from './order.js';
import { OrdersController } from './orders.controller.js';

describe('a class that injects IdService', () => {
  it('is tested without a database, with the same IDs in every run', async () => {
    expect(await firstIds()).toEqual(await firstIds());
  });

  it('can be shown a lost lease', async () => {
    const { controller, testbed } = await compile();
    testbed.loseLease();
    expect(() => controller.issue()).toThrow(LeaseLostError);
  });
});

async function firstIds(): Promise<string[]> {
  const { controller } = await compile();
  return [controller.issue().id, controller.issue().id];
}

async function compile(): Promise<{ controller: OrdersController; testbed: RaindropTestbed }> {
  const module = await Test.createTestingModule({
    imports: [RaindropTestingModule.forTest()],
    controllers: [OrdersController],
    providers: [{ provide: getRepositoryToken(Order), useValue: {} }],
  }).compile();
  return { controller: module.get(OrdersController), testbed: module.get(RaindropTestbed) };
}
