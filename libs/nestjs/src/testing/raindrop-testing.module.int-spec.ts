import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm';
import { GeneratedSnowflake, SnowflakeNotAssignedError } from '@raindrop/nestjs/typeorm';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { createTestIdService, RaindropTestbed, RaindropTestingModule } from '@raindrop/nestjs/testing';
import { Column, DataSource, Entity, type Repository } from 'typeorm';

@Entity()
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column()
  title!: string;
}

@Entity()
class Invoice {
  @GeneratedSnowflake({ service: 'invoices', code: 'invoice' })
  id!: string;

  @Column()
  title!: string;
}

const FIRST = '67815815617970176';

const sqlite = (entities: (typeof Order | typeof Invoice)[], name?: string) =>
  TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities, synchronize: true, name });

describe('RaindropTestingModule with TypeORM on SQLite', () => {
  let app: TestingModule;

  const start = async (imports: Parameters<typeof Test.createTestingModule>[0]['imports']): Promise<void> => {
    app = await Test.createTestingModule({ imports }).compile();
    await app.init();
  };
  const ordersOf = (dataSource: string | undefined = undefined): Repository<Order> =>
    app.get<Repository<Order>>(getRepositoryToken(Order, dataSource));

  afterEach(() => app.close());

  it('fills the columns of the default DataSource', async () => {
    await start([sqlite([Order]), TypeOrmModule.forFeature([Order]), RaindropTestingModule.forTest()]);
    const order = await ordersOf().save({ title: 'tea' });
    expect(order.id).toBe(FIRST);
    expect(await ordersOf().findOneByOrFail({ id: FIRST })).toMatchObject({ title: 'tea' });
    const tables: { name: string }[] = await app.get(DataSource).query('SELECT name FROM sqlite_master');
    expect(tables.map(({ name }) => name).filter((name) => !name.startsWith('sqlite'))).toEqual(['order']);
  });

  it('fills the columns of the DataSources that are named, each by its service', async () => {
    await start([
      sqlite([Order], 'shop'),
      sqlite([Order, Invoice], 'archive'),
      TypeOrmModule.forFeature([Order], 'shop'),
      TypeOrmModule.forFeature([Order, Invoice], 'archive'),
      RaindropTestingModule.forTest({ dataSource: ['shop', 'archive'] }),
      RaindropTestingModule.forTest({ dataSource: 'archive', name: 'invoices', workerId: 2 }),
    ]);
    expect((await ordersOf('shop').save({ title: 'tea' })).id).toBe(FIRST);
    expect((await ordersOf('archive').save({ title: 'tea' })).id).toBe('67815815617970178');
    const invoices = app.get<Repository<Invoice>>(getRepositoryToken(Invoice, 'archive'));
    const invoice = await invoices.save({ title: 'tea' });
    expect(app.get(IdService).parse(invoice.id)).toMatchObject({ workerId: 2, sequence: 0 });
  });

  it('lets an insert wait for a lease that is lost', async () => {
    await start([sqlite([Order]), TypeOrmModule.forFeature([Order]), RaindropTestingModule.forTest()]);
    const testbed = app.get(RaindropTestbed);
    testbed.loseLease();
    const saved = ordersOf().save({ title: 'tea' });
    await testbed.clock.advance(1_000);
    expect(await ordersOf().count()).toBe(0);
    testbed.regainLease();
    expect((await saved).id).toBe('67815816691712000');
  });

  it('refuses what the real module refuses, and logs where it is told to', async () => {
    @Entity('rounded')
    class Rounded {
      @GeneratedSnowflake()
      id!: number;
    }
    const warnings: string[] = [];
    const logger = { log: () => {}, error: () => {}, warn: (message: string) => void warnings.push(message) };
    const imports = (lint: 'error' | 'warn') => [
      TypeOrmModule.forRoot({ type: 'better-sqlite3', database: ':memory:', entities: [Rounded] }),
      RaindropTestingModule.forTest({ lint, logger }),
    ];
    await expect(Test.createTestingModule({ imports: imports('error') }).compile()).rejects.toThrow('rounded.id');
    await start(imports('warn'));
    expect(warnings.join()).toContain('rounded.id');
  });

  describe('in place of the real module', () => {
    @Injectable()
    class Orders {
      constructor(private readonly dataSource: DataSource) {}
      place = async (): Promise<string> => (await this.dataSource.getRepository(Order).save({ title: 'tea' })).id;
    }
    const idsModule = RaindropModule.forRoot({ startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 });
    @Module({ imports: [sqlite([Order]), idsModule], providers: [Orders] })
    class AppModule {}

    it('is refused an in-memory database when nothing is overridden: so the real one was not started below', async () => {
      const compile = Test.createTestingModule({ imports: [AppModule] }).compile();
      await expect(compile).rejects.toThrow('is in memory');
    });

    it('fills the columns when the module is overridden', async () => {
      app = await Test.createTestingModule({ imports: [AppModule] })
        .overrideModule(idsModule)
        .useModule(RaindropTestingModule.forTest())
        .compile();
      expect(await app.get(Orders).place()).toBe(FIRST);
    });

    it('fills the columns when the overriding service was attached, not otherwise', async () => {
      const { ids } = createTestIdService();
      app = await Test.createTestingModule({ imports: [AppModule] })
        .overrideProvider(IdService)
        .useValue(ids)
        .compile();
      await expect(app.get(Orders).place()).rejects.toThrow(SnowflakeNotAssignedError);
      ids.attach(app.get(DataSource));
      expect(await app.get(Orders).place()).toBe(FIRST);
    });
  });
});
