import { Column, DataSource, Entity, EntitySchema, ManyToOne, type DataSourceOptions, type Relation } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { GeneratedSnowflake, snowflakeColumn } from './generated-snowflake.decorator.js';
import type { UnmigratedTableError } from './snowflake-errors.js';

@Entity('orders')
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 40 })
  customer!: string;
}

@Entity('line')
class Line {
  @GeneratedSnowflake()
  id!: string;

  @ManyToOne(() => Order, { nullable: true })
  order!: Relation<Order>;
}

@Entity('orders')
class NumberedOrder {
  @GeneratedSnowflake()
  id!: string;

  @GeneratedSnowflake({ primary: false, name: 'public_id' })
  publicId!: string;

  @Column({ type: 'varchar', length: 40 })
  customer!: string;
}

describe.each(databaseKinds)('Tables that TypeORM would synchronize on %s', (kind) => {
  const auto = {
    postgres: 'serial PRIMARY KEY',
    sqlite: 'integer PRIMARY KEY AUTOINCREMENT NOT NULL',
    mariadb: 'int NOT NULL AUTO_INCREMENT PRIMARY KEY',
    mysql: 'int NOT NULL AUTO_INCREMENT PRIMARY KEY',
  }[kind];
  const plain = 'bigint NOT NULL PRIMARY KEY';
  let database: TestDatabase;
  let outside: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    outside = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await outside.destroy();
    await database.drop();
  });

  const source = (
    entities: DataSourceOptions['entities'] = [Order],
    more: object = { synchronize: true },
  ): DataSource => new DataSource({ ...database.options, entities, ...more });

  const orders = async (key: string, ids: readonly string[] = ['1', '2', '3']): Promise<void> => {
    await outside.query(`CREATE TABLE orders (id ${key}, customer varchar(40) NOT NULL)`);
    for (const id of ids) await outside.query(`INSERT INTO orders (id, customer) VALUES ('${id}', 'of ${id}')`);
  };

  const rows = async (table = 'orders'): Promise<unknown> =>
    (await outside.query<object[]>(`SELECT * FROM ${table} ORDER BY id`)).map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
    );

  const failure = async (work: Promise<unknown>): Promise<UnmigratedTableError> =>
    work.then(
      () => Promise.reject(new Error('nothing was refused')),
      (error: unknown) => error as UnmigratedTableError,
    );

  const kept = [1, 2, 3].map((id) => ({ id: `${id}`, customer: `of ${id}` }));

  it('keep keys that the database made: initialize() names the table, its rows and raindrop adopt', async () => {
    await orders(auto);
    const dataSource = source();
    const error = await failure(dataSource.initialize());
    expect(error).toMatchObject({
      errorCode: 'UNMIGRATED_TABLE',
      retryable: false,
      tables: [{ table: 'orders', rows: 3, columns: [{ column: 'id', problem: expect.any(String) as string }] }],
    });
    expect(error.message).toMatch(
      /orders \(3 rows\): id is int.* and filled by the database\n.*raindrop adopt --table orders/i,
    );
    expect(dataSource.isInitialized).toBe(false);
    expect(await rows()).toEqual(kept);
  });

  it('keep them in synchronize() and schema:sync, which call it after the start', async () => {
    await orders(auto);
    const dataSource = await source([Order], {}).initialize();
    expect(await failure(dataSource.synchronize())).toMatchObject({ errorCode: 'UNMIGRATED_TABLE' });
    expect(await rows()).toEqual(kept);
    await dataSource.synchronize(true);
    expect(await rows()).toEqual([]);
    await dataSource.destroy();
  });

  it('keep UUIDs, and keys of an EntitySchema', async () => {
    await orders(kind === 'postgres' ? 'uuid PRIMARY KEY' : 'varchar(36) NOT NULL PRIMARY KEY', [
      '9f2c3c1e-7a6b-4f0e-8f4e-0a8a4d6b1c01',
    ]);
    const schema = new EntitySchema({
      name: 'orders',
      columns: { id: snowflakeColumn(), customer: { type: 'varchar', length: 40 } },
    });
    const error = await failure(source([schema]).initialize());
    expect(error).toMatchObject({ errorCode: 'UNMIGRATED_TABLE', tables: [{ table: 'orders', rows: 1 }] });
    expect(error.message).toMatch(/raindrop adopt --from uuid --table orders/);
    expect(await rows()).toHaveLength(1);
  });

  it('keep foreign keys to such a key, whose own column was migrated', async () => {
    await orders(plain);
    await outside.query(`CREATE TABLE line (id ${plain}, ${outside.driver.escape('orderId')} smallint)`);
    await outside.query(`INSERT INTO line VALUES (1, 2)`);
    const error = await failure(source([Order, Line]).initialize());
    expect(error).toMatchObject({ tables: [{ table: 'line', rows: 1, columns: [{ column: 'orderId' }] }] });
    expect(await rows('line')).toEqual([{ id: '1', orderId: '2' }]);
  });

  it('keep a key of another name, and get no column of equal IDs', async () => {
    await orders(plain);
    const columns = { id: snowflakeColumn({ name: 'order_id' }), customer: { type: 'varchar', length: 40 } as const };
    const renamed = new EntitySchema({ name: 'orders', columns: { ...columns, note: { type: 'int', default: 1 } } });
    expect(await failure(source([renamed]).initialize())).toMatchObject({
      tables: [{ columns: [{ column: 'order_id', problem: 'is not there' }] }],
    });
    expect(await failure(source([NumberedOrder]).initialize())).toMatchObject({
      tables: [{ columns: [{ column: 'public_id', problem: 'is not there' }] }],
    });
    expect(await rows()).toEqual(kept);
  });

  it('are made and altered where nothing can be lost', async () => {
    const made = await source([Order, Line]).initialize();
    await made.query(`INSERT INTO orders (id, customer) VALUES (7, 'Ada')`);
    await made.query(`INSERT INTO line (id) VALUES (8)`);
    await made.synchronize();
    await made.destroy();
    const options = { comment: 'The key', primaryKeyConstraintName: 'PK_named' };
    const altered = new EntitySchema({
      name: 'orders',
      columns: {
        id: snowflakeColumn(options),
        customer: { type: 'varchar', length: 40 },
        publicId: snowflakeColumn({ primary: false, nullable: true }),
      },
    });
    await (await source([altered]).initialize()).destroy();
    expect(await rows()).toEqual([{ id: '7', customer: 'Ada', publicId: null }]);
  });

  it('are made anew where they are empty, dropped first, or not synchronized', async () => {
    await orders(auto, []);
    await (await source().initialize()).destroy();
    await outside.query('DROP TABLE orders');
    await orders(auto);
    const apart = new EntitySchema({
      name: 'orders',
      synchronize: false,
      columns: { id: snowflakeColumn(), customer: { type: 'varchar', length: 40 } },
    });
    await (await source([apart]).initialize()).destroy();
    expect(await rows()).toEqual(kept);
    await (await source([Order], { synchronize: true, dropSchema: true }).initialize()).destroy();
    expect(await rows()).toEqual([]);
  });

  it('are migrated first where migrations run at the start', async () => {
    await orders(auto);
    const migrate = {
      postgres: ['ALTER TABLE orders ALTER COLUMN id TYPE bigint, ALTER COLUMN id DROP DEFAULT'],
      sqlite: [
        `CREATE TABLE new_orders (id ${plain}, customer varchar(40) NOT NULL)`,
        'INSERT INTO new_orders SELECT * FROM orders',
        'DROP TABLE orders',
        'ALTER TABLE new_orders RENAME TO orders',
      ],
      mariadb: ['ALTER TABLE orders MODIFY id bigint NOT NULL'],
      mysql: ['ALTER TABLE orders MODIFY id bigint NOT NULL'],
    }[kind];
    class Adopt1700000000000 {
      async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
        for (const sql of migrate) await runner.query(sql);
      }
      async down(): Promise<void> {}
    }
    const options = { synchronize: true, migrationsRun: true, migrations: [Adopt1700000000000] };
    await (await source([Order], options).initialize()).destroy();
    expect(await rows()).toEqual(kept);
  });
});
