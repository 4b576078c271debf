import {
  ChildEntity,
  Column,
  DataSource,
  Entity,
  EntitySchema,
  type EntitySchemaColumnOptions,
  PrimaryColumn,
  type QueryRunner,
  TableInheritance,
} from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { onOwnDatabase, type OpenDataSource } from '../../../../test/support/servers/data-sources.js';
import {
  idFunctionSql,
  isOfDatabase,
  issuingDatabase,
  makeIdFunction,
} from '../../../../test/support/servers/id-function.js';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { checkPrecision } from './check-precision.js';
import { GeneratedSnowflake, snowflakeColumn } from './generated-snowflake.decorator.js';

abstract class Base {
  @GeneratedSnowflake()
  id!: string;
}

@Entity('with_default')
class WithDefault extends Base {
  @GeneratedSnowflake({ databaseDefault: true })
  declare id: string;
}

@Entity('sibling')
class Sibling extends Base {
  @Column({ type: 'text', nullable: true })
  title?: string;
}

abstract class DefaultBase {
  @GeneratedSnowflake({ databaseDefault: true })
  id!: string;
}

@Entity('inherited')
class Inherited extends DefaultBase {}

@Entity('without_default')
class WithoutDefault extends DefaultBase {
  @GeneratedSnowflake()
  declare id: string;
}

/** A parent of its own for each test: a child that was declared once counts wherever its parent does. */
function payments(): new () => { id: string } {
  @Entity('payment')
  @TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
  class Payment {
    @GeneratedSnowflake({ databaseDefault: true })
    id!: string;
  }
  return Payment;
}

class Receipt {
  @GeneratedSnowflake({ primary: false, databaseDefault: true })
  serial!: string;
}

describe('A declaration of databaseDefault', () => {
  const database = onOwnDatabase(issuingDatabase);
  const open: OpenDataSource = (entities, more) => database.open(entities, { synchronize: true, ...more });

  it("is each class's own, where it declares its parent's key anew", async () => {
    const entities = [WithDefault, Sibling, Inherited, WithoutDefault];
    const dataSource = await open(entities);
    const found = await dataSource.query<{ place: string; text: string | null }[]>(
      `SELECT table_name AS place, column_default AS text FROM information_schema.columns WHERE column_name = 'id' ` +
        `AND table_name IN ('with_default', 'sibling', 'inherited', 'without_default') ORDER BY 1`,
    );
    expect(found).toEqual([
      { place: 'inherited', text: 'raindrop_id()' },
      { place: 'sibling', text: null },
      { place: 'with_default', text: 'raindrop_id()' },
      { place: 'without_default', text: null },
    ]);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries).toEqual([]);

    attachSnowflakes(dataSource, snowflakeSource());
    for (const entity of entities) {
      const saved = await dataSource.manager.save(new entity());
      expect(isOfDatabase(saved.id)).toBe(false);
    }
    await dataSource.query('INSERT INTO with_default DEFAULT VALUES');
    await expect(dataSource.query(`INSERT INTO sibling (title) VALUES ('a')`)).rejects.toMatchObject({
      why: 'column-list',
    });
    await expect(dataSource.query('INSERT INTO without_default DEFAULT VALUES')).rejects.toThrow(/null value/);
  });

  it("gives a parent's siblings the default if it stands in TypeORM's options (control)", async () => {
    abstract class Plain {
      @PrimaryColumn({ type: 'bigint' })
      id!: string;
    }
    @Entity('plain_default')
    class PlainDefault extends Plain {
      @PrimaryColumn({ type: 'bigint', default: () => 'raindrop_id()' })
      declare id: string;
    }
    @Entity('plain_sibling')
    class PlainSibling extends Plain {}
    const dataSource = await open([PlainDefault, PlainSibling]);
    const found = await dataSource.query<{ text: string | null }[]>(
      `SELECT column_default AS text FROM information_schema.columns WHERE table_name = 'plain_sibling'`,
    );
    expect(found).toEqual([{ text: 'raindrop_id()' }]);
  });

  describe('is found in the table by a second synchronize and by the check', () => {
    const orders = (databaseDefault: string): EntitySchema =>
      new EntitySchema({
        name: 'orders',
        columns: { id: snowflakeColumn({ databaseDefault }), title: { type: 'text' } },
      });
    const differences = async (dataSource: DataSource): Promise<object> => {
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      const { warnings } = await checkPrecision(dataSource);
      return {
        changes: upQueries.map(({ query }) => query),
        warnings: warnings.filter((each) => /default|database fills/.test(each)),
      };
    };

    it.each([
      ['public.next_id', 'shop,public'],
      ['shop.next_id', 'public,shop'],
      ['Shop.nextId', 'public,"Shop"'],
      ['public.next_id', '"$user",public'],
      ['current_time_id', 'public'],
      ['current_date_id', 'public'],
      ['localtime_id', 'public'],
      ['shop.current_timestamp_ids', 'public'],
      [`s${'a'.repeat(60)}.${'b'.repeat(58)}`, 'public'],
    ])('%s with the search path %s', async (name, path) => {
      const outside = await open([]);
      for (const sql of idFunctionSql(name)) await outside.query(sql);
      await outside.query('CREATE SCHEMA IF NOT EXISTS shop');
      await outside.query('CREATE SCHEMA IF NOT EXISTS AUTHORIZATION CURRENT_USER');
      const dataSource = await open([orders(name)], { extra: { options: `-c search_path=${path}` } });
      expect(await differences(dataSource)).toEqual({ changes: [], warnings: [] });
    });

    it('but not for the function of another schema that the search path finds before it', async () => {
      for (const name of ['next_id', 'shop.next_id']) await makeIdFunction(database.options, name);
      const settings = { extra: { options: '-c search_path=public,shop' } };
      await open([orders('public.next_id')], settings);
      const dataSource = await open([orders('shop.next_id')], { ...settings, synchronize: false });
      const set = 'ALTER TABLE "orders" ALTER COLUMN "id" SET DEFAULT shop.next_id()';
      const warning = expect.stringContaining(`by default next_id(), and not by shop.next_id(). ${set}`) as unknown;
      expect(await differences(dataSource)).toEqual({ changes: [set], warnings: [warning] });
      await dataSource.synchronize();
      expect(await differences(dataSource)).toEqual({ changes: [], warnings: [] });
    });
  });

  it('lets synchronize go on with rows where the name of the function contains that of nextval', async () => {
    await makeIdFunction(database.options, 'order_nextval');
    const orders = (key: EntitySchemaColumnOptions): EntitySchema =>
      new EntitySchema({ name: 'orders', columns: { id: key, title: { type: 'text' } } });
    const dataSource = await open([orders(snowflakeColumn({ databaseDefault: 'order_nextval' }))]);
    await dataSource.query(`INSERT INTO orders (title) VALUES ('a')`);
    await dataSource.synchronize();
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries).toEqual([]);
    await dataSource.query(`ALTER TABLE orders ALTER COLUMN id SET DEFAULT nextval('order_nextval_seq')`);
    await expect(dataSource.synchronize()).rejects.toMatchObject({ errorCode: 'UNMIGRATED_TABLE' });
  });

  describe('is refused in a child of single-table inheritance', () => {
    const refused = async (...entities: (new () => object)[]): Promise<string> => {
      const failure = open(entities);
      await expect(failure).rejects.toMatchObject({ errorCode: 'UNSUPPORTED_COLUMN', retryable: false });
      return failure.catch((error: Error) => error.message) as Promise<string>;
    };

    it('on a column of its own', async () => {
      const Payment = payments();
      @ChildEntity()
      class CardPayment extends Payment {
        @GeneratedSnowflake({ primary: false, databaseDefault: true })
        authorisation!: string;
      }
      expect(await refused(Payment, CardPayment)).toMatch(
        /on CardPayment\.authorisation: databaseDefault is not for columns of a child.*Remove it/,
      );
    });

    it('on a column that the DataSource does not name, which TypeORM makes in the table of the parent', async () => {
      const Payment = payments();
      @ChildEntity()
      class UnnamedPayment extends Payment {
        @GeneratedSnowflake({ primary: false, databaseDefault: true })
        trace!: string;
      }
      expect(await refused(Payment)).toContain(`on ${UnnamedPayment.name}.trace: databaseDefault`);
    });

    it('on an embedded object', async () => {
      const Payment = payments();
      @ChildEntity()
      class ReceiptPayment extends Payment {
        @Column(() => Receipt)
        receipt!: Receipt;
      }
      expect(await refused(Payment, ReceiptPayment)).toContain('on ReceiptPayment.receipt: databaseDefault');
    });

    it('on a column of an EntitySchema', async () => {
      class Invoice {
        id!: string;
      }
      class Reminder extends Invoice {
        serial!: string;
      }
      const inheritance = { pattern: 'STI', column: { name: 'kind', type: 'varchar' } } as const;
      const parent = new EntitySchema<Invoice>({
        name: 'Invoice',
        target: Invoice,
        columns: { id: snowflakeColumn({ databaseDefault: true }) },
        inheritance,
      });
      const child = new EntitySchema<Reminder>({
        name: 'Reminder',
        target: Reminder,
        type: 'entity-child',
        columns: { serial: snowflakeColumn({ primary: false, databaseDefault: true }) },
      });
      expect(await refused(parent as never, child as never)).toContain('on Reminder.serial: databaseDefault');
    });

    it('and rows of a parent and its children have IDs of the process where the parent declares it', async () => {
      const Payment = payments();
      @ChildEntity()
      class CashPayment extends Payment {
        @GeneratedSnowflake({ primary: false })
        slip!: string;
      }
      const dataSource = await open([Payment, CashPayment]);
      attachSnowflakes(dataSource, snowflakeSource());
      await dataSource.manager.save(new Payment());
      await dataSource.manager.insert(CashPayment, {});
      await dataSource.query(`INSERT INTO payment (kind) VALUES ('Payment')`);
      const found = await dataSource.query<{ id: string; slip: string | null }[]>('SELECT * FROM payment ORDER BY id');
      expect(found.map(({ id, slip }) => [isOfDatabase(id), slip === null])).toEqual([
        [true, true],
        [false, true],
        [false, false],
      ]);
    });
  });
});

describe.each(databaseKinds.filter((kind) => kind !== 'postgres'))('A declaration of databaseDefault on %s', (kind) => {
  it("is refused where a class declares its parent's key anew, before migrations and dropSchema", async () => {
    const database = await testDatabase(kind);
    const outside = await new DataSource(database.options).initialize();
    await outside.query('CREATE TABLE kept (id int)');
    const ran: string[] = [];
    class Migration1700000000000 {
      name = 'Migration1700000000000';
      up(runner: QueryRunner): Promise<unknown> {
        ran.push('up');
        return runner.query('CREATE TABLE migrated (id int)');
      }
      down(): Promise<void> {
        return Promise.resolve();
      }
    }
    try {
      const dataSource = new DataSource({
        ...database.options,
        entities: [Sibling, WithDefault],
        migrations: [Migration1700000000000],
        migrationsRun: true,
        dropSchema: true,
        synchronize: true,
      });
      await expect(dataSource.initialize()).rejects.toMatchObject({
        errorCode: 'UNSUPPORTED_COLUMN',
        column: 'WithDefault.id',
      });
      expect(ran).toEqual([]);
      expect(await outside.createQueryRunner().hasTable('kept')).toBe(true);
    } finally {
      await outside.destroy();
      await database.drop();
    }
  });
});
