import 'reflect-metadata';
import { SequenceExhaustedError, type Layout, UnsafeSnowflakeError } from '@raindrop/core';
import { Column, DataSource, Entity, type DataSourceOptions, type MixedList } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { safeSqliteIntegers, type SqliteDatabase } from './safe-sqlite-integers.js';
import { AlreadyAttachedError, DataSourceNotInitializedError, SnowflakeNotAssignedError } from './snowflake-errors.js';

@Entity()
class Item {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'int', nullable: true })
  row!: number;
}

@Entity()
class Receipt {
  @GeneratedSnowflake({ service: 'receipts' })
  id!: string;
}

type Entities = MixedList<new () => object>;

async function failureOf(attempt: () => unknown): Promise<unknown> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.each(databaseKinds)('attachSnowflakes on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await testDatabase(kind);
    dataSource = await open([Item, Receipt]);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const open = (entities: Entities, more: object = { synchronize: true }): Promise<DataSource> =>
    new DataSource({ ...database.options, entities, ...more }).initialize();

  it('attaches a service once, and detaches it', async () => {
    const { subscribers } = dataSource;
    const mine = snowflakeSource();
    const { detach } = attachSnowflakes(dataSource, mine);
    expect(attachSnowflakes(dataSource, mine).detach).toBe(detach);
    expect(subscribers).toHaveLength(1);
    await dataSource.manager.save(new Item());

    detach();
    detach();
    expect(subscribers).toHaveLength(0);
    const failure = await failureOf(() => dataSource.manager.save(new Item()));
    expect(failure).toBeInstanceOf(SnowflakeNotAssignedError);
    expect(failure).toMatchObject({ service: 'default', column: 'Item.id' });

    attachSnowflakes(dataSource, snowflakeSource()).detach();
  });

  it('refuses a second service of the same name', () => {
    const { detach } = attachSnowflakes(dataSource, snowflakeSource());
    expect(() => attachSnowflakes(dataSource, snowflakeSource())).toThrow(AlreadyAttachedError);
    detach();
  });

  it('leaves the columns of other services to them', async () => {
    const { detach } = attachSnowflakes(dataSource, snowflakeSource());
    expect(await failureOf(() => dataSource.manager.save(new Receipt()))).toMatchObject({
      errorCode: 'SNOWFLAKE_NOT_ASSIGNED',
      service: 'receipts',
    });
    const { detach: detachReceipts } = attachSnowflakes(dataSource, snowflakeSource('receipts'));
    const receipt = await dataSource.manager.save(new Receipt());
    detach();
    expect(await dataSource.manager.findOneBy(Receipt, { id: receipt.id })).toEqual(receipt);
    detachReceipts();
  });

  it('serves finds by ID while nothing is attached', async () => {
    const id = '1152921504606846977';
    await dataSource.manager.insert(Item, { id });
    expect(await dataSource.manager.countBy(Item, { id })).toBe(1);
    await dataSource.manager.delete(Item, id);
    expect(await dataSource.manager.countBy(Item, { id })).toBe(0);
  });

  it('waits for the service when the tick is used up, and asks it once for a whole bulk', async () => {
    const real = snowflakeSource();
    let refusals = 0;
    const exhausted = snowflakeSource('default', {
      nextId: () => {
        refusals++;
        throw new SequenceExhaustedError(1, new Date());
      },
      nextIdAsync: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return real.nextIdAsync();
      },
    });
    const { detach } = attachSnowflakes(dataSource, exhausted);
    const rows: Partial<Item>[] = Array.from({ length: 20 }, (_, row) => ({ row }));
    await dataSource.manager.insert(Item, rows);
    expect(refusals).toBe(1);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(20);
    const saved = await dataSource.manager.save(Item, [{ row: 20 }, { row: 21 }]);
    expect(refusals).toBe(2);
    expect(await dataSource.manager.findOneByOrFail(Item, { id: saved[1]!.id })).toEqual(saved[1]);
    detach();
  });

  it('passes other refusals on, writes nothing and leaves no rejection unhandled', async () => {
    let calls = 0;
    const broken = snowflakeSource('default', {
      nextId: () => {
        throw calls++ === 0 ? new SequenceExhaustedError(1, new Date()) : new Error('broken');
      },
      nextIdAsync: () => Promise.reject(new Error('gave up')),
    });
    const { detach } = attachSnowflakes(dataSource, broken);
    dataSource.subscribers.push({
      beforeInsert: () => {
        throw new Error('a subscriber of the user');
      },
    });
    const before = await dataSource.manager.count(Item);
    expect(await failureOf(() => dataSource.manager.save(Item, { row: 1 }))).toMatchObject({
      message: 'a subscriber of the user',
    });
    dataSource.subscribers.pop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await failureOf(() => dataSource.manager.insert(Item, { row: 1 }))).toMatchObject({ message: 'broken' });
    calls = 0;
    expect(await failureOf(() => dataSource.manager.insert(Item, [{}, {}]))).toMatchObject({ message: 'gave up' });
    expect(await dataSource.manager.count(Item)).toBe(before);
    detach();
  });

  it('takes a DataSource that was initialised anew', async () => {
    const other = await open([Item], {});
    const mine = snowflakeSource();
    attachSnowflakes(other, mine);
    await other.destroy();
    expect(await failureOf(() => attachSnowflakes(other, mine))).toBeInstanceOf(DataSourceNotInitializedError);
    await other.initialize();
    attachSnowflakes(other, mine);
    const item = await other.manager.save(new Item());
    expect(await other.manager.findOneBy(Item, { id: item.id })).toMatchObject({ id: item.id });
    await other.destroy();
  });

  it('tells a number that has lost its digits', async () => {
    const { detach } = attachSnowflakes(dataSource, snowflakeSource());
    const failure = await failureOf(() => dataSource.manager.insert(Item, { id: (2 ** 60) as unknown as string }));
    expect(failure).toBeInstanceOf(UnsafeSnowflakeError);
    expect(failure).toMatchObject({ column: 'item.id', origin: 'application' });
    detach();
  });

  it('refuses a number that the ID does not fit before anything is written', async () => {
    @Entity()
    class Small {
      @GeneratedSnowflake()
      id!: number;
    }
    const other = await open([Small]);
    const still = { safeUntil: new Date(Date.now() + 60_000) } as Layout;
    attachSnowflakes(other, snowflakeSource('default', { layout: still }), { mode: 'warn', warn: () => {} });
    const failure = await failureOf(() => other.manager.save(new Small()));
    expect(failure).toBeInstanceOf(UnsafeSnowflakeError);
    expect(failure).toMatchObject({ column: 'small.id', origin: 'source' });
    expect(await other.manager.count(Small)).toBe(0);
    await other.destroy();
  });
});

describe('exact IDs with drivers that round', () => {
  const id = '1152921504606846977';

  it('reads exact IDs on SQLite through prepareDatabase, without a service', async () => {
    const database = await testDatabase('sqlite');
    const prepared: unknown[] = [];
    const prepareDatabase = (db: SqliteDatabase): void => {
      safeSqliteIntegers(db);
      prepared.push(db);
    };
    const options = { ...database.options, entities: [Item], synchronize: true, prepareDatabase } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    await dataSource.manager.insert(Item, { id, row: 5 });
    expect(await dataSource.manager.findOneBy(Item, { id })).toEqual({ id, row: 5 });
    expect(prepared).toHaveLength(1);
    await dataSource.destroy();
    await database.drop();
  });

  it('reads anew what SQLite prepared before the service was attached', async () => {
    const database = await testDatabase('sqlite');
    const options = { ...database.options, entities: [Item], synchronize: true } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    await dataSource.manager.insert(Item, { id });
    const failure = await failureOf(() => dataSource.manager.findOneBy(Item, { id }));
    expect(failure).toBeInstanceOf(UnsafeSnowflakeError);
    attachSnowflakes(dataSource, snowflakeSource());
    expect((await dataSource.manager.findOneByOrFail(Item, { id })).id).toBe(id);
    await dataSource.destroy();
    await database.drop();
  });

  it.each([
    ['mariadb' as const, { supportBigNumbers: false, bigNumberStrings: false }],
    ['postgres' as const, { parseInt8: true }],
  ])('refuses rounded IDs of %s with %j', async (kind, setting) => {
    const database = await testDatabase(kind);
    const options = { ...database.options, ...setting, entities: [Item], synchronize: true } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    attachSnowflakes(dataSource, snowflakeSource(), { mode: 'off', warn: () => {} });
    await dataSource.manager.insert(Item, { id });
    const failure = await failureOf(() => dataSource.manager.findOneBy(Item, { id }));
    expect(failure).toBeInstanceOf(UnsafeSnowflakeError);
    expect(failure).toMatchObject({ column: 'item.id', origin: 'database' });
    await dataSource.destroy();
    await database.drop();
  });
});
