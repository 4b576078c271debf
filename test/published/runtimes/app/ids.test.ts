import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { getDataSourceToken } from '@nestjs/typeorm';
import { LeaseLostError } from '@raindrop/core';
import { RaindropTestbed, RaindropTestingModule } from '@raindrop/nestjs/testing';
import { IdsController } from './ids.controller.js';

describe('a controller that injects IdService', () => {
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

async function compile(): Promise<{ controller: IdsController; testbed: RaindropTestbed }> {
  const module = await Test.createTestingModule({
    imports: [RaindropTestingModule.forTest()],
    controllers: [IdsController],
    providers: [{ provide: getDataSourceToken(), useValue: {} }],
  }).compile();
  return { controller: module.get(IdsController), testbed: module.get(RaindropTestbed) };
}
