import type { Layout } from '@raindrop/core';
import type { FieldPacket } from 'mysql2';
import { types } from 'pg';
import { DataSource, Entity, JoinColumn, ManyToOne, type DataSourceOptions, type Relation } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import type { EntityLintError } from './entity-lint.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';
import { lookAtColumns } from './real-columns.js';

@Entity('orders')
class Order {
  @GeneratedSnowflake({ name: 'order_id' })
  id!: string;
}

@Entity('items')
class Item {
  @GeneratedSnowflake()
  id!: string;

  @JoinColumn({ name: 'order_id' })
  @ManyToOne(() => Order, { createForeignKeyConstraints: false, nullable: true })
  order!: Relation<Order>;
}

@Entity('counters')
class Counter {
  @GeneratedSnowflake()
  id!: number;
}

describe.each(databaseKinds)('The columns as they are on %s', (kind) => {
  let database: TestDatabase;
  const opened: DataSource[] = [];
  const logged: string[] = [];
  const lint = { mode: 'error' as const, warn: (message: string) => void logged.push(message) };
  const wide = snowflakeSource();

  beforeEach(async () => {
    database = await testDatabase(kind);
    logged.length = 0;
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.destroy()));
    await database.drop();
  });

  const open = async (
    more: object = {},
    entities: (new () => object)[] = [Order, Item],
    source = wide,
  ): Promise<DataSource> => {
    const options = { ...database.options, entities, ...more } as DataSourceOptions;
    const dataSource = await new DataSource(options).initialize();
    opened.push(dataSource);
    attachSnowflakes(dataSource, source);
    return dataSource;
  };

  const look = async (dataSource: DataSource, source = wide): Promise<EntityLintError | undefined> =>
    lookAtColumns(dataSource, source, lint).then(
      () => undefined,
      (error: unknown) => error as EntityLintError,
    );

  const tables = async (dataSource: DataSource, order: string, item: string, reference: string): Promise<void> => {
    await dataSource.query(`CREATE TABLE orders (order_id ${order} PRIMARY KEY)`);
    await dataSource.query(`CREATE TABLE items (id ${item} PRIMARY KEY, order_id ${reference})`);
  };

  it('is content with what it makes itself, and with tables that are not there yet', async () => {
    const dataSource = await open();
    expect(await look(dataSource)).toBeUndefined();
    await dataSource.synchronize();
    expect(await look(dataSource)).toBeUndefined();
    expect(logged).toEqual([]);
  });

  it('asks once', async () => {
    const dataSource = await open();
    const asked: string[] = [];
    await lookAtColumns(dataSource, wide, lint, (sql, parameters) => {
      asked.push(sql);
      return dataSource.query(sql, parameters);
    });
    expect(asked).toHaveLength(1);
  });

  const narrow: Record<string, [string, string, string]> = {
    mariadb: ['int unsigned', 'smallint', 'varchar(12)'],
    mysql: ['int unsigned', 'smallint', 'varchar(12)'],
    postgres: ['integer', 'smallint', 'varchar(12)'],
    sqlite: ['real', 'double', 'float'],
  };

  it('refuses columns that were never migrated: keys, and those that point at them', async () => {
    const dataSource = await open();
    await tables(dataSource, ...narrow[kind]!);
    const failure = await look(dataSource);
    expect(failure).toMatchObject({ errorCode: 'ENTITY_LINT', retryable: false });
    expect(failure!.problems.map(({ entity, property }) => `${entity}.${property}`).sort()).toEqual([
      'Item.id',
      'Item.order.id',
      'Order.id',
    ]);
    const [order] = failure!.problems.filter(({ entity }) => entity === 'Order');
    expect(order!.problem).toMatch(/^its column orders\.order_id is (int|real)/i);
    expect(order!.cure).toMatch(
      kind === 'sqlite' ? /recreate the table "orders"/ : /ALTER TABLE [`"]orders[`"] .*[`"]order_id[`"] .*bigint/,
    );
    expect(failure!.message).toMatch(/raindrop adopt/);
  });

  it('takes other types that hold every ID, and warns of texts', async () => {
    const dataSource = await open();
    await tables(dataSource, 'decimal(20,0)', 'bigint', 'varchar(19)');
    expect(await look(dataSource)).toBeUndefined();
    expect(logged).toEqual([expect.stringContaining('compares IDs as text')]);
  });

  it('warns of a narrow column whose numbers are small', async () => {
    const dataSource = await open();
    await tables(dataSource, narrow[kind]![0], 'bigint', 'bigint');
    expect(await look(dataSource, snowflakeSource('default', { layout: undefined }))).toBeUndefined();
    expect(logged).toEqual([expect.stringContaining('orders.order_id is')]);
  });

  it('warns, and starts, where it may not look', async () => {
    const dataSource = await open();
    await lookAtColumns(dataSource, wide, lint, () => Promise.reject(new Error('permission denied')));
    expect(logged).toEqual([expect.stringContaining('permission denied')]);
  });

  it('takes numbers where all IDs are exact', async () => {
    const narrow = snowflakeSource('default', { layout: { bits: 53, safeUntil: null } as Layout });
    expect(await look(await open({}, [Counter], narrow), narrow)).toBeUndefined();
  });

  it('refuses a connection of the application that changes an ID', async () => {
    let failure: EntityLintError | undefined;
    if (kind === 'postgres') {
      const parse = types.getTypeParser(20) as (text: string) => unknown;
      types.setTypeParser(20, (text) => ({ text }));
      failure = await look(await open());
      types.setTypeParser(20, parse);
    } else if (kind === 'sqlite') {
      const dataSource = await open();
      failure = (await lookAtColumns(dataSource, wide, lint, async (sql, parameters) =>
        (await dataSource.query<{ id: unknown }[]>(sql, parameters)).map((row) => ({ ...row, id: Number(row.id) })),
      ).catch((error: unknown) => error as EntityLintError)) as EntityLintError;
    } else {
      const typeCast = (field: FieldPacket & { string(): string }, next: () => unknown): unknown =>
        (field.type as unknown) === 'LONGLONG' ? Number(field.string()) : next();
      failure = await look(await open({ extra: { typeCast } }));
    }
    expect(failure).toMatchObject({ errorCode: 'ENTITY_LINT' });
    expect(failure!.problems[0]!.problem).toMatch(/connection returns .* for the ID 9223372036854775807$/);
    expect(failure!.problems[0]!.cure).toMatch(/typeCast|int8|prepareDatabase/);
  });
});
