import { setImmediate } from 'node:timers/promises';
import {
  AfterInsert,
  BeforeInsert,
  Column,
  DataSource,
  Entity,
  type EntitySubscriberInterface,
  type InsertEvent,
} from 'typeorm';
import * as typeorm from 'typeorm';
import { snowflakeSource, waitingSource } from '../../../../test/support/module/snowflake-source.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { AttachedSnowflakes } from './attached-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

@Entity()
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20, default: '' })
  title!: string;
}

@Entity()
class Invoice {
  @GeneratedSnowflake()
  id!: string;
}

@Entity()
class Receipt {
  @GeneratedSnowflake()
  id!: string;

  @GeneratedSnowflake({ primary: false, service: 'other' })
  serial!: string;
}

/** Its listener sets the first ID by itself. */
@Entity()
class Listening {
  @GeneratedSnowflake()
  id!: string;

  told = false;

  @BeforeInsert()
  setId(): void {
    this.id ??= '77';
  }

  @AfterInsert()
  tell(): void {
    this.told = true;
  }
}

/** What a subscriber of the application's was told of. */
class Witness implements EntitySubscriberInterface {
  readonly seen: unknown[] = [];

  constructor(private readonly target: typeof Order | typeof Object = Object) {}

  listenTo(): typeof Order | typeof Object {
    return this.target;
  }

  beforeInsert({ entity }: InsertEvent<Partial<Order>>): void {
    this.seen.push(`before ${entity.id}`);
  }

  afterInsert({ entity }: InsertEvent<Partial<Order>>): void {
    this.seen.push(`after ${entity.id}`);
  }
}

/** Two libraries may each bring this package, and share TypeORM. */
async function secondCopy(): Promise<typeof import('./attach-snowflakes.js')> {
  let copy: Promise<typeof import('./attach-snowflakes.js')> | undefined;
  await jest.isolateModulesAsync(async () => {
    jest.doMock('typeorm', () => typeorm);
    await (copy = import('./attach-snowflakes.js'));
  });
  return copy!;
}

/** A library that brings this package and TypeORM: its copies replace the methods of its TypeORM. */
async function secondLibrary(): Promise<typeof import('./attach-snowflakes.js') & Pick<typeof typeorm, 'DataSource'>> {
  let library: (typeof import('./attach-snowflakes.js') & Pick<typeof typeorm, 'DataSource'>) | undefined;
  await jest.isolateModulesAsync(async () => {
    jest.dontMock('typeorm');
    const { DataSource: OwnDataSource } = await import('typeorm');
    library = { ...(await import('./attach-snowflakes.js')), DataSource: OwnDataSource };
  });
  return library!;
}

describe('Rows of insert()', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await testDatabase('sqlite');
    const entities = [Order, Invoice, Receipt, Listening];
    dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it.each([Object, Order])('are told to the subscribers that listen to them, with their IDs: %p', async (target) => {
    attachSnowflakes(dataSource, snowflakeSource());
    const witness = new Witness(target);
    dataSource.subscribers.push(witness);
    const rows: Partial<Order>[] = [{}, {}];
    await dataSource.manager.insert(Order, rows);
    const ids = rows.map(({ id }) => id);
    expect(ids).toEqual([expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)]);
    expect(witness.seen).toEqual([...ids.map((id) => `before ${id}`), ...ids.map((id) => `after ${id}`)]);
    await dataSource.manager.insert(Invoice, {});
    expect(witness.seen).toHaveLength(target === Object ? 6 : 4);
  });

  it('are told to the listeners of their entity first, whose ID stays', async () => {
    attachSnowflakes(dataSource, snowflakeSource());
    const row = new Listening();
    await dataSource.manager.insert(Listening, row);
    expect(row).toMatchObject({ id: '77', told: true });
    expect(await dataSource.manager.countBy(Listening, { id: '77' })).toBe(1);
  });

  it("are TypeORM's to tell again afterwards: the query builder is as it was", async () => {
    const attached = attachSnowflakes(dataSource, snowflakeSource());
    const values = [{ title: 'a' }];
    const insert = dataSource.createQueryBuilder().insert().into(Order).values(values);
    await insert.execute();
    expect(insert.expressionMap).toMatchObject({ callListeners: true });
    expect(insert.expressionMap.valuesSet).toBe(values);
    const witness = new Witness();
    dataSource.subscribers.push(witness);
    await insert.execute();
    expect(witness.seen).toHaveLength(2);
    expect(await dataSource.manager.count(Order)).toBe(2);
    attached.detach();
    await expect(dataSource.manager.insert(Order, {})).rejects.toMatchObject({ errorCode: 'SNOWFLAKE_NOT_ASSIGNED' });
  });

  it('have no ID from a service that fails, and are not written', async () => {
    attachSnowflakes(dataSource, failingAt(1));
    const insert = dataSource.createQueryBuilder().insert().into(Order).values([{}, {}]);
    await expect(insert.execute()).rejects.toThrow('broken');
    expect(await dataSource.manager.count(Order)).toBe(0);
  });

  it('are told to subscribers one after the other, until the service fails', async () => {
    attachSnowflakes(dataSource, failingAt(2));
    const witness = new Witness();
    dataSource.subscribers.push(witness);
    const rows: Partial<Order>[] = [{}, {}, {}];
    await expect(dataSource.manager.insert(Order, rows)).rejects.toThrow('broken');
    expect(witness.seen).toEqual([`before ${rows[0]!.id}`]);
    expect(rows.slice(1)).toEqual([{}, {}]);
  });

  it('are told without an ID to a subscriber that stands in front, whose ID stays', async () => {
    attachSnowflakes(dataSource, snowflakeSource());
    const seen: unknown[] = [];
    const first = {
      beforeInsert: ({ entity }: InsertEvent<Partial<Order>>) => {
        seen.push(entity.id);
        entity.id = '77';
      },
    };
    dataSource.subscribers.unshift(first);
    const order: Partial<Order> = {};
    await dataSource.manager.insert(Order, order);
    expect([...seen, order.id]).toEqual([undefined, '77']);
    expect(await dataSource.manager.countBy(Order, { id: '77' })).toBe(1);
  });

  describe('are told to a subscriber that is added', () => {
    it('as soon as insert() was called', async () => {
      attachSnowflakes(dataSource, snowflakeSource());
      const order: Partial<Order> = {};
      const inserted = dataSource.manager.insert(Order, order);
      const witness = new Witness();
      dataSource.subscribers.push(witness);
      await inserted;
      expect(witness.seen).toEqual([`before ${order.id}`, `after ${order.id}`]);
    });

    it('while an ID is waited for', async () => {
      const { source, open } = waitingSource();
      attachSnowflakes(dataSource, source);
      const order: Partial<Order> = {};
      const inserted = dataSource.manager.insert(Order, [order, order]);
      const witness = new Witness();
      dataSource.subscribers.push(witness);
      open();
      await inserted;
      expect(witness.seen).toHaveLength(4);
      expect(witness.seen[2]).toBe(`after ${order.id}`);
    });

    it('while the statement runs', async () => {
      attachSnowflakes(dataSource, snowflakeSource());
      const witness = new Witness();
      onFirstInsert(() => dataSource.subscribers.push(witness));
      const order: Partial<Order> = {};
      await dataSource.manager.insert(Order, order);
      expect(witness.seen).toEqual([`after ${order.id}`]);
    });

    it('and inserts them elsewhere: with IDs of their own', async () => {
      attachSnowflakes(dataSource, snowflakeSource());
      const others: Promise<unknown>[] = [];
      const copying = {
        afterInsert: ({ entity, metadata, manager }: InsertEvent<Partial<Order>>) => {
          if (metadata.target === Order && others.length < 2) others.push(manager.insert(Order, entity));
        },
      };
      onFirstInsert(() => dataSource.subscribers.push(copying));
      const order: Partial<Order> = {};
      await dataSource.manager.insert(Order, [order, order]);
      expect(await Promise.all(others)).toHaveLength(2);
      expect(await dataSource.manager.count(Order)).toBe(4);
    });

    it('and are no rows that something else may fill meanwhile', async () => {
      const attached = new AttachedSnowflakes(snowflakeSource());
      attached.attach(dataSource);
      const refusals: unknown[] = [];
      const assigning = {
        afterInsert: ({ entity }: InsertEvent<Partial<Order>>) => {
          try {
            attached.assign(entity, Order);
          } catch (error) {
            refusals.push(error);
          }
        },
      };
      onFirstInsert(() => dataSource.subscribers.push(assigning));
      await dataSource.manager.insert(Order, {});
      expect(refusals).toEqual([expect.objectContaining({ why: 'twice' })]);
    });
  });

  it('keep the IDs that they came with where a second library inserts their object twice at once', async () => {
    const library = await secondLibrary();
    const own = new library.DataSource({ ...database.options, entities: [Order, Invoice] });
    await own.initialize();
    library.attachSnowflakes(own, snowflakeSource());
    own.subscribers.push({ beforeInsert: () => setImmediate() });
    const order = { id: '77' };
    await Promise.all([own.manager.insert(Order, order), own.manager.insert(Invoice, order)]);
    expect([await own.manager.find(Order), await own.manager.find(Invoice)]).toMatchObject([
      [{ id: '77' }],
      [{ id: '77' }],
    ]);
    await own.destroy();
  });

  it('are no rows that another copy of this package may fill meanwhile', async () => {
    // The first copy to attach has replaced execute().
    attachSnowflakes(dataSource, snowflakeSource('other'));
    const { source, open } = waitingSource();
    (await secondCopy()).attachSnowflakes(dataSource, source);
    const order = new Order();
    const inserted = dataSource.manager.insert(Order, [order, order]);
    const refused = expect(dataSource.manager.save(order)).rejects.toMatchObject({ why: 'twice' });
    await setImmediate();
    open();
    await Promise.all([inserted, refused]);
    expect(await dataSource.manager.count(Order)).toBe(2);
  });

  it('are filled by several services, one of which is waited for', async () => {
    const { source, open } = waitingSource('other');
    attachSnowflakes(dataSource, snowflakeSource());
    attachSnowflakes(dataSource, source);
    const rows: Partial<Receipt>[] = [{}, { serial: '5' }, {}];
    rows.push(rows[0]!);
    const inserted = dataSource.manager.insert(Receipt, rows);
    // As where TypeORM tells of rows: the ID that is written is the one in the object.
    Object.assign(rows[0]!, { id: '77', serial: '78' });
    open();
    await inserted;
    const found = await dataSource.manager.find(Receipt);
    expect(found).toHaveLength(4);
    expect(new Set(found.map(({ serial }) => serial)).size).toBe(4);
    expect(found).toEqual(expect.arrayContaining(rows.map((row) => expect.objectContaining(row) as Receipt)));
    expect(found).not.toContainEqual(expect.objectContaining({ serial: '78' }));
  });

  it('are written from copies where an object cannot hold an ID, or has it and cannot hold what the database adds', async () => {
    attachSnowflakes(dataSource, snowflakeSource());
    attachSnowflakes(dataSource, snowflakeSource('other'));
    const { identifiers, generatedMaps } = await dataSource.manager.insert(Order, Object.freeze({ id: '77' }));
    expect([identifiers, generatedMaps]).toEqual([[{ id: '77' }], [{ id: '77', title: '' }]]);
    await dataSource.manager.insert(Receipt, Object.seal({ id: undefined }));
    await dataSource.manager.insert(Receipt, Object.seal({ id: undefined, serial: undefined }));
    expect(await dataSource.manager.count(Receipt)).toBe(2);
  });

  it('are the places of an array that hold an object', async () => {
    attachSnowflakes(dataSource, snowflakeSource());
    const rows: object[] = [{}];
    rows[2] = {};
    await dataSource.manager.insert(Order, rows);
    expect(await dataSource.manager.count(Order)).toBe(2);
  });

  it('are none of the objects beside valuesFromSelect()', async () => {
    attachSnowflakes(dataSource, snowflakeSource());
    await dataSource.manager.insert(Order, { id: '5' });
    const values: Partial<Order> = {};
    const insert = dataSource.createQueryBuilder().insert().into(Order, ['id', 'title']).values(values);
    await insert.valuesFromSelect((from) => from.select(`'6'`).addSelect(`'x'`).from(Order, 'order')).execute();
    expect(values).toEqual({});
    expect(await dataSource.manager.countBy(Order, { id: '6', title: 'x' })).toBe(1);
  });

  describe('leave their query builder to its caller while it is executed', () => {
    it.each([true, false])('told: %p', async (isTold) => {
      const { source, open } = waitingSource();
      attachSnowflakes(dataSource, source);
      if (isTold) dataSource.subscribers.push(new Witness());
      const values = [{ title: 'a' }];
      const insert = dataSource.createQueryBuilder().insert().into(Order).values(values);
      const executed = insert.execute();
      expect(insert.expressionMap.callListeners).toBe(true);
      expect(insert.expressionMap.valuesSet).toBe(values);
      insert.callListeners(false).values({ id: '7', title: 'b' });
      open();
      await executed;
      await insert.execute();
      expect(insert.expressionMap.callListeners).toBe(false);
      expect((await dataSource.manager.find(Order)).map(({ title }) => title).sort()).toEqual(['a', 'b']);
    });

    it('with the methods that the caller has replaced', async () => {
      attachSnowflakes(dataSource, snowflakeSource());
      const insert = dataSource.createQueryBuilder().insert().into(Order).values([{}]);
      const replaced = insert as unknown as { obtainQueryRunner: () => unknown };
      const obtain = replaced.obtainQueryRunner.bind(insert);
      let obtained = 0;
      replaced.obtainQueryRunner = () => {
        obtained++;
        return obtain();
      };
      await Promise.all([insert.execute(), insert.execute()]);
      expect(obtained).toBe(2);
    });

    it('except for what sets its parameters, or makes its statement', async () => {
      attachSnowflakes(dataSource, snowflakeSource());
      const order = {};
      const insert = dataSource.createQueryBuilder().insert().into(Order);
      const title = (): string => {
        insert.setParameter('title', 'a');
        return ':title';
      };
      insert.values([order, order, { title }]);
      const replaced = insert as unknown as { getQueryAndParameters: () => unknown };
      replaced.getQueryAndParameters = insert.getQueryAndParameters.bind(insert);
      for (let run = 0; run < 2; run++) await Promise.all([insert.execute(), insert.execute()]);
      expect(await dataSource.manager.count(Order)).toBe(12);
      expect(await dataSource.manager.countBy(Order, { title: 'a' })).toBe(4);
      expect(insert.getParameters()).toEqual({});
    });

    it('with one set of parameters for each execution', async () => {
      attachSnowflakes(dataSource, snowflakeSource());
      const statements: unknown[] = [];
      dataSource.subscribers.push({
        beforeQuery: ({ query, parameters }) => {
          if (query.startsWith('INSERT')) statements.push([query, [...(parameters as unknown[])]]);
        },
      });
      const insert = dataSource.createQueryBuilder().insert().into(Order).values({ id: '1', title: 'a' });
      insert.orIgnore().updateEntity(false);
      for (let run = 0; run < 2; run++) await Promise.all([insert.execute(), insert.execute()]);
      expect(statements).toEqual(new Array(4).fill(statements[0]));
      expect(insert.expressionMap).toMatchObject({ parameters: {}, locallyGenerated: {} });
      expect(Object.keys(insert.expressionMap.parameters)).toEqual([]);
    });
  });

  /** A service whose n-th ID fails. */
  const failingAt = (count: number): ReturnType<typeof snowflakeSource> => {
    const source = snowflakeSource();
    let calls = 0;
    const nextId = (): bigint => {
      if (++calls === count) throw new Error('broken');
      return source.nextId();
    };
    return snowflakeSource('default', { nextId });
  };

  const onFirstInsert = (then: () => void): void => {
    let isDone = false;
    dataSource.subscribers.push({
      beforeQuery: ({ query }) => {
        if (isDone || !query.startsWith('INSERT')) return;
        isDone = true;
        then();
      },
    });
  };
});
