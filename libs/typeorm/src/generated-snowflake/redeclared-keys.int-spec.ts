import {
  ChildEntity,
  Column,
  DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
  TableInheritance,
} from 'typeorm';
import { caught } from '../../../../test/support/engine/caught.js';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake, type GeneratedSnowflakeOptions } from './generated-snowflake.decorator.js';
import { UnsupportedColumnError } from './snowflake-errors.js';

abstract class Base {
  @GeneratedSnowflake()
  id!: unknown;

  @Column({ type: 'varchar', length: 40, nullable: true })
  title?: string | null;
}

@Entity('sibling')
class Sibling extends Base {}

@Entity('invoice')
class Invoice extends Base {
  @GeneratedSnowflake({ name: 'invoice_id', as: 'string', prefix: 'invoice', service: 'invoices', code: 'invoice' })
  declare id: unknown;
}

/** The nearest declaration counts. */
@Entity('reminder')
class Reminder extends Invoice {
  @ManyToOne(() => Invoice)
  @JoinColumn()
  invoice?: Relation<Invoice>;
}

@Entity('big')
class Big extends Invoice {
  @GeneratedSnowflake({ as: 'bigint' })
  declare id: unknown;
}

abstract class Counted {
  @PrimaryGeneratedColumn({ type: 'integer' })
  id!: unknown;
}

@Entity('migrated')
class Migrated extends Counted {
  @GeneratedSnowflake({ as: 'string' })
  declare id: unknown;
}

@Entity('counted')
class StillCounted extends Counted {
  @Column({ type: 'int', default: 1 })
  rank!: number;
}

describe.each(databaseKinds)("A class that declares its parent's key anew, on %s", (kind) => {
  it('has the options of its own declaration, and the others have theirs', async () => {
    const database = await testDatabase(kind);
    const entities = [Sibling, Invoice, Reminder, Big, Migrated, StillCounted];
    const dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
    try {
      const codes: (string | undefined)[] = [];
      const invoices = snowflakeSource('invoices');
      const noting = {
        name: 'invoices',
        layout: invoices.layout,
        nextId: (code?: string) => (codes.push(code), invoices.nextId(code)),
        nextIdAsync: (code?: string) => invoices.nextIdAsync(code),
      };
      for (const source of [snowflakeSource(), noting]) attachSnowflakes(dataSource, source);
      const { manager } = dataSource;
      const names = entities.map((entity) => dataSource.getMetadata(entity).primaryColumns[0]!.databaseName);
      expect(names).toEqual(['id', 'invoice_id', 'invoice_id', 'id', 'id', 'id']);

      const sibling = await manager.save(new Sibling());
      const invoice = await manager.save(new Invoice());
      const reminder = await manager.save(Object.assign(new Reminder(), { invoice }));
      const big = await manager.save(new Big());
      const migrated = await manager.save(new Migrated());
      expect([sibling.id, invoice.id, reminder.id, big.id, migrated.id]).toEqual([
        expect.stringMatching(/^\d{15,}$/),
        expect.stringMatching(/^invoice_/),
        expect.stringMatching(/^invoice_/),
        expect.any(BigInt),
        expect.stringMatching(/^\d{15,}$/),
      ]);
      expect(codes).toEqual(['invoice', 'invoice']);
      for (const each of [sibling, invoice, reminder, big, migrated]) {
        const found = await manager.findOneByOrFail(each.constructor, { id: each.id! });
        expect(found.id).toEqual(each.id);
      }
      const { invoice: related } = await manager.findOneOrFail(Reminder, { where: {}, relations: { invoice: true } });
      expect(related!.id).toBe(invoice.id);
      expect(String((await manager.save(new StillCounted())).id)).toBe('1');

      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      expect(upQueries).toEqual([]);
    } finally {
      await dataSource.destroy();
      await database.drop();
    }
  });
});

describe('A class that declares the key of its single-table parent anew', () => {
  /** A child of a parent whose key has these options. */
  const declare = (parent: PropertyDecorator, options: GeneratedSnowflakeOptions): (() => unknown) => {
    abstract class Keyed {
      @parent
      id!: string;
    }
    @Entity('payment')
    @TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
    class Payment extends Keyed {}
    return () => {
      @ChildEntity()
      class CardPayment extends Payment {
        @GeneratedSnowflake(options)
        declare id: string;
      }
      return [Payment, CardPayment];
    };
  };

  it.each<[string, PropertyDecorator, GeneratedSnowflakeOptions]>([
    ['the default of the database', GeneratedSnowflake(), { databaseDefault: true }],
    ['none', GeneratedSnowflake({ databaseDefault: true }), {}],
    ['a prefix', GeneratedSnowflake(), { prefix: 'card' }],
    ['the name of a column', GeneratedSnowflake(), { name: 'card_id' }],
    ['a service', GeneratedSnowflake(), { service: 'cards' }],
    ['IDs at all', PrimaryColumn({ type: 'bigint' }), {}],
  ])('is refused with other options: %s', (_, parent, options) => {
    const refusal = caught(UnsupportedColumnError, declare(parent, options));
    expect(refusal.column).toBe('CardPayment.id');
    expect(refusal.reason).toMatch(/^Keyed declares it with other options/);
  });

  it('is taken with the same options', () => {
    const options = { prefix: 'card', databaseDefault: true, comment: 'of cards' };
    expect(declare(GeneratedSnowflake({ ...options }), { ...options })).not.toThrow();
  });
});
