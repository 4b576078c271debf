import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ClosedError, ConfigurationError, LeaseLostError } from '@raindrop/core';
import { getIdServiceToken, IdService, InjectIdService, RaindropModule } from '@raindrop/nestjs';
import {
  createTestIdService,
  getTestbedToken,
  RaindropTestbed,
  RaindropTestingModule,
  type RaindropTestingModuleOptions,
} from '@raindrop/nestjs/testing';

@Injectable()
class Checkout {
  constructor(private readonly ids: IdService) {}

  reference = (): string => this.ids.nextString('reference');
}

describe('RaindropTestingModule', () => {
  it('provides the service and its testbed everywhere', async () => {
    @Module({ providers: [Checkout], exports: [Checkout] })
    class Feature {}
    const app = await Test.createTestingModule({ imports: [RaindropTestingModule.forTest(), Feature] }).compile();
    const testbed = app.get(RaindropTestbed);
    expect(app.get(IdService)).toBe(testbed.ids);
    expect(app.get(Checkout).reference()).toBe('67815815617970176');
    testbed.loseLease();
    expect(() => app.get(Checkout).reference()).toThrow(LeaseLostError);
  });

  it('keeps the service to its importers when it is not global', async () => {
    const ids = RaindropTestingModule.forTest({ isGlobal: false });
    @Module({ imports: [ids], providers: [Checkout] })
    class Importer {}
    @Module({ providers: [Checkout] })
    class Outsider {}
    const app = await Test.createTestingModule({ imports: [Importer] }).compile();
    expect(app.get(Checkout, { strict: false }).reference()).toBe('67815815617970176');
    await expect(Test.createTestingModule({ imports: [ids, Outsider] }).compile()).rejects.toThrow('IdService');
  });

  it('provides several services, each with a testbed of its own', async () => {
    @Injectable()
    class Both {
      constructor(
        readonly ids: IdService,
        @InjectIdService('orders') readonly orders: IdService,
      ) {}
    }
    const app = await Test.createTestingModule({
      imports: [RaindropTestingModule.forTest(), RaindropTestingModule.forTest({ name: 'orders', workerId: 2 })],
      providers: [Both],
    }).compile();
    app.get<RaindropTestbed>(getTestbedToken('orders')).loseLease();
    const { ids, orders } = app.get(Both);
    expect([ids.workerId, orders.workerId, orders.name]).toEqual([1, undefined, 'orders']);
    expect(app.get(getTestbedToken())).toBe(app.get(RaindropTestbed));
    expect(app.get(getIdServiceToken('orders'))).toBe(orders);
  });

  it('begins anew in every application', async () => {
    const ids = RaindropTestingModule.forTest({ now: '2026-05-01' });
    const compile = () => Test.createTestingModule({ imports: [ids], providers: [Checkout] }).compile();
    const [one, other] = [await compile(), await compile()];
    expect(one.get(Checkout).reference()).toBe(other.get(Checkout).reference());
  });

  it('ends with its application', async () => {
    const app = await Test.createTestingModule({ imports: [RaindropTestingModule.forTest()] }).compile();
    const ids = app.get(IdService);
    await app.init();
    expect(ids.nextId()).toBeDefined();
    await app.close();
    expect(() => ids.nextId()).toThrow(ClosedError);
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ dataSource: [] }, 'dataSource'],
    [{ startTimeStmp: '2024-01-01' }, 'did you mean startTimeStamp?'],
  ])('refuses %j', async (options, says) => {
    const compile = async (): Promise<unknown> =>
      Test.createTestingModule({
        imports: [RaindropTestingModule.forTest(options as RaindropTestingModuleOptions)],
      }).compile();
    await expect(compile()).rejects.toThrow(ConfigurationError);
    await expect(compile()).rejects.toThrow(says);
  });
});

describe('An application that imports the real module, in a test', () => {
  /** Nothing listens there: a start that touches the database fails. */
  const idsModule = RaindropModule.forRoot({
    startTimeStamp: '2026-01-01',
    timeStampLength: 33,
    workIdLength: 10,
    dbConfig: 'mysql://root@127.0.0.1:1/nothing',
    opTimeoutMs: 100,
  });
  @Module({ imports: [idsModule], providers: [Checkout] })
  class AppModule {}

  it('needs its database when nothing is overridden', async () => {
    const compile = Test.createTestingModule({ imports: [AppModule] }).compile();
    await expect(compile).rejects.toThrow('worker table');
  });

  it('takes a test service in place of its own, and does not start that one', async () => {
    const testbed = createTestIdService();
    const app = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(IdService)
      .useValue(testbed.ids)
      .compile();
    await app.init();
    expect(app.get(Checkout).reference()).toBe('67815815617970176');
    await app.close();
    expect(() => testbed.ids.nextId()).toThrow(ClosedError);
  });

  it('takes the testing module in place of the real one', async () => {
    const app = await Test.createTestingModule({ imports: [AppModule] })
      .overrideModule(idsModule)
      .useModule(RaindropTestingModule.forTest())
      .compile();
    expect(app.get(Checkout).reference()).toBe('67815815617970176');
    app.get(RaindropTestbed).loseLease();
    expect(() => app.get(Checkout).reference()).toThrow(LeaseLostError);
  });
});
