import * as typeorm from 'typeorm';
import {
  ChildEntity,
  Column,
  DataSource,
  Entity,
  EntitySchema,
  PrimaryColumn,
  type QueryRunner,
  TableInheritance,
} from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { onOwnDatabase } from '../../../../test/support/servers/data-sources.js';
import { isOfDatabase, issuingDatabase } from '../../../../test/support/servers/id-function.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

const declared = { databaseDefault: true };

@Entity('orders')
class Order {
  @GeneratedSnowflake(declared)
  id!: string;

  @Column({ type: 'varchar', length: 40 })
  title!: string;
}

@Entity('ticket')
class Ticket {
  @PrimaryColumn({ type: 'int' })
  id!: number;

  @GeneratedSnowflake({ primary: false, nullable: true, ...declared })
  code?: string | null;
}

@Entity('foreign_order')
class ForeignOrder {
  @GeneratedSnowflake({ service: 'other', ...declared })
  id!: string;

  @Column({ type: 'varchar', length: 40 })
  title!: string;
}

class Key {
  @GeneratedSnowflake(declared)
  id!: string;
}

@Entity('document')
@TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
class Document {
  @Column(() => Key, { prefix: false })
  key!: Key;

  @Column({ type: 'varchar', length: 40 })
  title!: string;
}

@ChildEntity()
class Letter extends Document {
  @Column({ type: 'int', default: 1 })
  pages!: number;
}

/** Another entity of the table of orders. */
@Entity('orders')
class OrderTitle {
  @PrimaryColumn({ type: 'varchar', length: 40 })
  title!: string;
}

/** One that has the column, as the application declares it. */
@Entity('orders')
class PlainOrder {
  @PrimaryColumn({ type: 'bigint' })
  id!: string;

  @Column({ type: 'varchar', length: 40 })
  title!: string;
}

const ENTITIES = [Order, Ticket, ForeignOrder, Document, Letter];

/** Another copy of this package in the same application. */
async function secondCopy(): Promise<typeof import('./attach-snowflakes.js')> {
  let copy: Promise<typeof import('./attach-snowflakes.js')> | undefined;
  await jest.isolateModulesAsync(async () => {
    jest.doMock('typeorm', () => typeorm);
    await (copy = import('./attach-snowflakes.js'));
  });
  return copy!;
}

describe('An insert of a query builder into a column with databaseDefault', () => {
  const { open } = onOwnDatabase(issuingDatabase);

  const openShop = async (...services: string[]): Promise<DataSource> => {
    const dataSource = await open(ENTITIES, { synchronize: true });
    for (const name of services) attachSnowflakes(dataSource, snowflakeSource(name));
    return dataSource;
  };

  const rows = (dataSource: DataSource, table: string): Promise<Record<string, string | null>[]> =>
    dataSource.query(`SELECT * FROM ${table}`);

  const expectRefused = async (
    dataSource: DataSource,
    table: string,
    work: Promise<unknown>,
    why = 'column-list',
  ): Promise<void> => {
    await expect(work).rejects.toMatchObject({ errorCode: 'SNOWFLAKE_NOT_ASSIGNED', why });
    expect(await rows(dataSource, table)).toEqual([]);
  };

  const insert = (dataSource: DataSource): typeorm.InsertQueryBuilder<object> =>
    dataSource.createQueryBuilder().insert() as typeorm.InsertQueryBuilder<object>;

  const listed = (dataSource: DataSource, target: typeof Order | typeof ForeignOrder = Order): Promise<unknown> =>
    insert(dataSource).into(target, ['title']).values({ title: 'x' }).execute();

  describe('is refused without the column', () => {
    it('where another copy of the package was attached first', async () => {
      const dataSource = await openShop('other');
      (await secondCopy()).attachSnowflakes(dataSource, snowflakeSource());
      await expectRefused(dataSource, 'orders', listed(dataSource));
    });

    it('where this copy was attached first', async () => {
      const dataSource = await openShop('other', 'default');
      await expectRefused(dataSource, 'orders', listed(dataSource));
    });

    it('before a service is attached', async () => {
      const dataSource = await openShop();
      await expectRefused(dataSource, 'orders', listed(dataSource));
    });

    it('after the service was detached', async () => {
      const dataSource = await openShop();
      attachSnowflakes(dataSource, snowflakeSource()).detach();
      await expectRefused(dataSource, 'orders', listed(dataSource));
    });

    it('while only another service is attached', async () => {
      const dataSource = await openShop('default');
      await expectRefused(dataSource, 'foreign_order', listed(dataSource, ForeignOrder));
    });

    it('where a wrapper of the query runner copies the parameters', async () => {
      const dataSource = await openShop('default');
      const { driver } = dataSource;
      const create = driver.createQueryRunner.bind(driver);
      driver.createQueryRunner = (mode) => {
        const runner: QueryRunner = create(mode);
        const query = runner.query.bind(runner) as (sql: string, parameters?: unknown[], ...more: never[]) => never;
        runner.query = ((sql: string, parameters?: unknown[], ...more: never[]) =>
          query(sql, parameters && [...parameters], ...more)) as never;
        return runner;
      };
      await expectRefused(dataSource, 'orders', listed(dataSource));
    });

    it('after a common table expression', async () => {
      const dataSource = await openShop('default');
      const object = { title: 'x' } as Order;
      const builder = insert(dataSource).addCommonTableExpression('SELECT 1 AS one', 'x');
      await expectRefused(dataSource, 'orders', builder.into(Order, ['title']).values(object).execute());
    });

    it('as a common table expression of another statement', async () => {
      const dataSource = await openShop('default');
      const work = async (): Promise<unknown> => {
        const made = insert(dataSource).into(Order, ['title']).values({ title: 'x' }).returning('id');
        return dataSource
          .createQueryBuilder()
          .select('*')
          .addCommonTableExpression(made, 'made')
          .from('made', 'made')
          .getRawMany();
      };
      await expectRefused(dataSource, 'orders', work());
    });

    it('where its SQL is sent by hand', async () => {
      const dataSource = await openShop('default');
      const builder = insert(dataSource).into(Order, ['title']).values({ title: 'x' });
      expect(() => builder.getQueryAndParameters()).toThrow(/the statement lists its columns, and orders\.id is not/);
    });

    it('from a SELECT', async () => {
      const dataSource = await openShop('default');
      const work = insert(dataSource)
        .into(Order, ['title'])
        .valuesFromSelect((query: typeorm.SelectQueryBuilder<object>) =>
          query.subQuery().select('t.typname', 'title').from('pg_type', 't'),
        );
      await expectRefused(dataSource, 'orders', work.execute());
    });

    it.each<[string, (dataSource: DataSource) => Promise<unknown>]>([
      ['its table with the schema', (sql) => insert(sql).into('public.orders').values({ title: 'x' }).execute()],
      ['a list, and its table', (sql) => insert(sql).into('public.orders', ['title']).values({ title: 'x' }).execute()],
      [
        'rows of which one lacks it',
        (sql) =>
          insert(sql)
            .into('public.orders')
            .values([{ id: '5', title: 'x' }, { title: 'y' }])
            .execute(),
      ],
    ])('by %s', async (_, work) => {
      const dataSource = await openShop('default');
      await expectRefused(dataSource, 'orders', work(dataSource));
    });

    it('with undefined in its place, by its table', async () => {
      const dataSource = await openShop('default');
      const work = insert(dataSource).into('public.orders').values({ id: undefined, title: 'x' }).execute();
      await expectRefused(dataSource, 'orders', work, 'silent');
    });

    it('by another entity of the table', async () => {
      await openShop();
      const dataSource = await open([Order, OrderTitle]);
      await expectRefused(dataSource, 'orders', dataSource.manager.insert(OrderTitle, { title: 'x' }));
    });

    it('by another entity of the table that has the column', async () => {
      await openShop();
      const dataSource = await open([Order, PlainOrder]);
      await expectRefused(dataSource, 'orders', dataSource.manager.insert(PlainOrder, { title: 'x' }), 'silent');
      await dataSource.manager.insert(PlainOrder, { id: '5', title: 'x' });
      expect(await rows(dataSource, 'orders')).toEqual([{ id: '5', title: 'x' }]);
    });

    it.each<[string, string[] | undefined, object[], string]>([
      // TypeORM writes the values of an object in the order of its properties, whatever they are called.
      ['under the name of the column beside it', ['id', 'title'], [{ title: undefined, id: '5' }], 'silent'],
      ['in a list of this column alone', ['id'], [{ other: undefined }], 'silent'],
      ['as DEFAULT under another name', ['id', 'title'], [{ title: () => 'DEFAULT', id: '5' }], 'default'],
      // Without a list, the values stand in the order of the columns of the table.
      ['in rows without a list', undefined, ['5', '6'].map((id) => ({ title: undefined, id })), 'silent'],
    ])('by its table, where its value is left out %s', async (_, columns, values, why) => {
      const dataSource = await openShop('default');
      await dataSource.query('ALTER TABLE orders ALTER COLUMN title DROP NOT NULL');
      const work = insert(dataSource).into('public.orders', columns).values(values).execute();
      await expectRefused(dataSource, 'orders', work, why);
    });

    it('if the column is nullable', async () => {
      const dataSource = await openShop('default');
      const object = { id: 1 } as Ticket;
      await expectRefused(dataSource, 'ticket', insert(dataSource).into(Ticket, ['id']).values(object).execute());
      await dataSource.manager.insert(Ticket, object);
      expect(await rows(dataSource, 'ticket')).toEqual([{ id: 1, code: object.code }]);
      expect(isOfDatabase(object.code)).toBe(false);
    });

    it('if the column is in an embedded object of a parent', async () => {
      const dataSource = await openShop('default');
      const builder = insert(dataSource).into(Letter, ['title', 'pages']).values({ title: 'x' });
      await expectRefused(dataSource, 'document', builder.execute());
      const letter = { title: 'filled' } as Letter;
      await dataSource.manager.insert(Letter, letter);
      expect(await rows(dataSource, 'document')).toMatchObject([{ id: letter.key.id }]);
    });

    it('in a schema of its own', async () => {
      const outside = await open([]);
      await outside.query('CREATE SCHEMA shop');
      const dataSource = await open(ENTITIES, { synchronize: true, schema: 'shop' });
      attachSnowflakes(dataSource, snowflakeSource());
      await expectRefused(
        dataSource,
        'shop.orders',
        insert(dataSource).into('orders', ['title']).values({ title: 'x' }).execute(),
      );
    });
  });

  it('gets an ID of the database that its object does not have, where the entity has no such column (control)', async () => {
    await openShop();
    const plain = new EntitySchema<Order>({
      name: 'orders',
      columns: { id: { type: 'bigint', primary: true, default: () => 'raindrop_id()' }, title: { type: 'text' } },
    });
    const dataSource = await open([plain]);
    const object = { title: 'x' } as Order;
    await insert(dataSource).into(plain, ['title']).values(object).updateEntity(false).execute();
    expect((await rows(dataSource, 'orders')).map(({ id }) => isOfDatabase(id))).toEqual([true]);
    expect(object).toEqual({ title: 'x' });
  });

  describe('is refused with DEFAULT in its place', () => {
    it.each(['DEFAULT', ' default ', '(DEFAULT)', 'DEFAULT -- one of the database', '/* one */ DEFAULT'])(
      '%j',
      async (sql) => {
        const dataSource = await openShop('default');
        const object = { id: (() => sql) as unknown, title: 'x' } as Order;
        await expectRefused(dataSource, 'orders', dataSource.manager.insert(Order, object), 'default');
        const byTable = insert(dataSource).into('public.orders').values(object);
        await expectRefused(dataSource, 'orders', byTable.execute(), 'default');
      },
    );

    it('but an expression of the application is sent as it is', async () => {
      const dataSource = await openShop('default');
      const object = { id: (() => 'raindrop_id()') as unknown, title: 'x' } as Order;
      await dataSource.manager.insert(Order, object);
      expect((await rows(dataSource, 'orders')).map(({ id }) => isOfDatabase(id))).toEqual([true]);
    });
  });

  describe('is no business of ours', () => {
    it('by hand, before a service is attached and after', async () => {
      const dataSource = await openShop();
      await dataSource.query(`INSERT INTO orders (title) VALUES ('a')`);
      attachSnowflakes(dataSource, snowflakeSource());
      await dataSource.query('INSERT INTO orders (title) VALUES ($1)', ['b']);
      expect((await rows(dataSource, 'orders')).map(({ id }) => isOfDatabase(id))).toEqual([true, true]);
    });

    it('into a table of the same name in another schema', async () => {
      const dataSource = await openShop('default');
      await dataSource.query('CREATE SCHEMA other CREATE TABLE orders (id int DEFAULT 5, title text)');
      await insert(dataSource).into('other.orders').values({ title: 'x' }).execute();
      expect(await rows(dataSource, 'other.orders')).toEqual([{ id: 5, title: 'x' }]);
    });

    it('with the column, by its table', async () => {
      const dataSource = await openShop('default');
      await insert(dataSource).into('public.orders').values({ id: '5', title: 'x' }).execute();
      await insert(dataSource).into('public.orders', ['id', 'title']).values({ id: '6', title: 'x' }).execute();
      expect((await rows(dataSource, 'orders')).map(({ id }) => id)).toEqual(['5', '6']);
    });
  });

  it('makes every ID in the process once, also when it is executed three times', async () => {
    const dataSource = await openShop('default');
    const object = { title: 'a' } as Order;
    const builder = insert(dataSource)
      .into(Order)
      .values([object, object, { title: 'b' }]);
    await builder.execute();
    await Promise.all([builder.execute(), builder.execute()]);
    const found = (await rows(dataSource, 'orders')).map(({ id }) => id);
    expect(new Set(found).size).toBe(9);
    expect(found.filter(isOfDatabase)).toEqual([]);
  });

  it.each([undefined, null, 0])('is refused if a subscriber sets the key to %s', async (value) => {
    const dataSource = await openShop('default');
    const taker = { beforeInsert: ({ entity }: { entity: Order }) => void ((entity as { id: unknown }).id = value) };
    dataSource.subscribers.push(taker as never);
    await expectRefused(dataSource, 'orders', dataSource.manager.insert(Order, { title: 'x' }), 'silent');
    await expectRefused(dataSource, 'orders', dataSource.manager.save(Order, { title: 'x' }), 'silent');
  });

  it('tells objects the keys of their rows after orIgnore(), with another copy attached', async () => {
    const dataSource = await openShop('other');
    (await secondCopy()).attachSnowflakes(dataSource, snowflakeSource());
    await dataSource.query('CREATE UNIQUE INDEX ON orders (title)');
    await dataSource.manager.insert(Order, { title: 'there' });
    const objects = [{ title: 'there' }, { title: 'new' }, { title: 'newer' }] as Order[];
    await insert(dataSource).into(Order).values(objects).orIgnore().execute();
    for (const title of ['new', 'newer']) {
      const row = await dataSource.manager.findOneByOrFail(Order, { title });
      expect(objects.find((each) => each.title === title)!.id).toBe(row.id);
      expect(isOfDatabase(row.id)).toBe(false);
    }
  });
});
