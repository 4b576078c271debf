import { setImmediate } from 'node:timers/promises';
import { Column, DataSource, Entity, type InsertEvent, PrimaryGeneratedColumn } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { until } from '../../../../test/support/until.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { AttachedSnowflakes } from './attached-snowflakes.js';
import type { SnowflakeSource } from './generated-column.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

class Stamp {
  @GeneratedSnowflake({ primary: false })
  serial!: string;
}

/** No constraint refuses a serial number that comes twice. */
@Entity({ name: 'lost_ticket' })
class Ticket {
  @PrimaryGeneratedColumn()
  no!: number;

  @GeneratedSnowflake({ primary: false })
  serial!: string;

  @Column({ type: 'varchar', length: 20, unique: true, nullable: true })
  title!: string | null;
}

@Entity({ name: 'lost_letter' })
class Letter {
  @GeneratedSnowflake()
  id!: string;

  @Column(() => Stamp)
  stamp!: Stamp;

  @Column({ type: 'varchar', length: 20, unique: true, nullable: true })
  title!: string | null;
}

@Entity({ name: 'lost_bill' })
class Bill {
  @PrimaryGeneratedColumn()
  no!: number;

  @GeneratedSnowflake({ primary: false, service: 'slow' })
  invoice!: string;

  @GeneratedSnowflake({ primary: false, service: 'slower' })
  receipt!: string;
}

/** A service whose IDs come one by one, as the test gives or refuses them. */
function handSource(name: string): { source: SnowflakeSource; asks: { give: () => void; refuse: () => void }[] } {
  const inner = snowflakeSource(name);
  const asks: { give: () => void; refuse: () => void }[] = [];
  const nextId = (): never => {
    throw Object.assign(new Error('none right now'), { retryable: true });
  };
  const nextIdAsync = (): Promise<bigint> =>
    new Promise<bigint>((resolve, reject) => {
      asks.push({ give: () => resolve(inner.nextId()), refuse: () => reject(new Error('refused')) });
    });
  return { source: snowflakeSource(name, { nextId, nextIdAsync }), asks };
}

abstract class Archived {
  @PrimaryGeneratedColumn()
  no!: number;

  @GeneratedSnowflake({ primary: false, service: 'other' })
  serial!: string;
}

@Entity({ name: 'lost_copy' })
class Copied extends Archived {}

@Entity({ name: 'lost_store' })
class Stored extends Archived {}

describe.each(databaseKinds)('Rows whose insert was lost, inserted again on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let attached: AttachedSnowflakes;
  let refuse: 'no row' | 'at once' | 'later' = 'no row';

  beforeEach(async () => {
    refuse = 'no row';
    database = await testDatabase(kind);
    const entities = [Ticket, Letter, Copied, Stored, Bill];
    dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
    attached = new AttachedSnowflakes(snowflakeSource('other'));
    attached.attach(dataSource);
    await dataSource.manager.insert(Ticket, { title: 'taken' });
    await dataSource.manager.insert(Letter, { title: 'taken', stamp: {} });
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const refuseLater = async (): Promise<void> => {
    await setImmediate();
    throw new Error('refused');
  };

  const audit = (): void => {
    dataSource.subscribers.push({
      beforeInsert: () => {
        if (refuse === 'at once') throw new Error('refused');
        return refuse === 'later' ? refuseLater() : undefined;
      },
    });
  };

  const expectTickets = async (count: number): Promise<void> => {
    const serials = (await dataSource.manager.find(Ticket)).map(({ serial }) => serial);
    expect(serials).toHaveLength(count);
    expect(new Set(serials).size).toBe(count);
  };

  /** Ways in which rows are inserted and do not get into the table. */
  const ways: [string, (rows: Partial<Ticket>[]) => Promise<unknown>][] = [
    ['the statement fails', (rows) => dataSource.manager.insert(Ticket, [...rows, { title: 'taken' }])],
    [
      'the statement fails beside a subscriber',
      (rows) => {
        audit();
        return dataSource.manager.insert(Ticket, [...rows, { title: 'taken' }]);
      },
    ],
    [
      'a subscriber refuses a row at once',
      (rows) => {
        audit();
        refuse = 'at once';
        return dataSource.manager.insert(Ticket, rows);
      },
    ],
    [
      'a subscriber refuses a row later',
      (rows) => {
        audit();
        refuse = 'later';
        return dataSource.manager.insert(Ticket, rows);
      },
    ],
    [
      'their transaction is rolled back',
      (rows) =>
        dataSource.transaction(async (manager) => {
          await manager.insert(Ticket, rows);
          throw new Error('rolled back');
        }),
    ],
    [
      'the transaction of their save is rolled back',
      (rows) =>
        dataSource.transaction(async (manager) => {
          await manager.save(Ticket, [...new Set(rows)]);
          throw new Error('rolled back');
        }),
    ],
    ['their save fails', (rows) => dataSource.manager.save(Ticket, [...new Set(rows), { title: 'taken' }])],
    [
      'they fail twice',
      async (rows) => {
        await dataSource.manager.insert(Ticket, [...rows, { title: 'taken' }]).catch(() => undefined);
        await dataSource.manager.insert(Ticket, [...rows, { title: 'taken' }]);
      },
    ],
  ];

  it.each(ways)('have IDs of their own where one object stands for two rows: %s', async (_way, lose) => {
    const ticket: Partial<Ticket> = {};
    const rows = [{}, ticket, ticket];
    await expect(lose(rows)).rejects.toThrow();
    refuse = 'no row';
    // A saved object has the key of the row that was rolled back.
    for (const each of rows) delete each.no;
    await dataSource.manager.insert(Ticket, rows);
    await expectTickets(4);
  });

  it.each(ways)('have IDs of their own where two calls insert one object at once: %s', async (_way, lose) => {
    const ticket: Partial<Ticket> = {};
    await expect(lose([{}, ticket])).rejects.toThrow();
    refuse = 'no row';
    delete ticket.no;
    const { manager } = dataSource;
    await Promise.all([manager.insert(Ticket, ticket), manager.insert(Ticket, ticket)]);
    await expectTickets(3);
  });

  it.each(['insert', 'save'] as const)(
    'have IDs of their own where they share an embedded object: %s()',
    async (way) => {
      const stamp = {} as Stamp;
      const rows = [1, 2].map(() => Object.assign(new Letter(), { stamp }));
      const taken = Object.assign(new Letter(), { stamp, title: 'taken' });
      const { manager } = dataSource;
      const all = [...rows, taken];
      await expect(way === 'save' ? manager.save(all) : manager.insert(Letter, all)).rejects.toThrow();
      taken.title = 'free';
      await (way === 'save' ? manager.save(all) : manager.insert(Letter, all));
      const serials = (await manager.find(Letter)).map((each) => each.stamp.serial);
      expect(new Set(serials).size).toBe(4);
    },
  );

  it('keep the IDs that the application reads in them', async () => {
    const ticket: Partial<Ticket> = { title: 'taken' };
    await expect(dataSource.manager.insert(Ticket, ticket)).rejects.toThrow();
    const { serial } = ticket;
    ticket.title = 'free';
    await dataSource.manager.insert(Ticket, ticket);
    expect(await dataSource.manager.findOneByOrFail(Ticket, { title: 'free' })).toMatchObject({ serial });
  });

  it('keep the IDs that the application has set since', async () => {
    const ticket: Partial<Ticket> = {};
    await expect(dataSource.manager.insert(Ticket, [ticket, { title: 'taken' }])).rejects.toThrow();
    ticket.serial = '77';
    await dataSource.manager.insert(Ticket, [ticket, ticket]);
    expect(await dataSource.manager.countBy(Ticket, { serial: '77' })).toBe(2);
  });

  it.each([true, false])('keep the IDs that the application sets meanwhile, told: %p', async (isTold) => {
    if (isTold) audit();
    const ticket: Partial<Ticket> = {};
    const inserted = dataSource.manager.insert(Ticket, [ticket, { title: 'taken' }]);
    ticket.serial = '77';
    await expect(inserted).rejects.toThrow();
    ticket.serial = '77';
    await dataSource.manager.insert(Ticket, [ticket, ticket]);
    expect(await dataSource.manager.countBy(Ticket, { serial: '77' })).toBe(2);
  });

  it('keep the IDs that a subscriber of the application sets', async () => {
    const front = { beforeInsert: ({ entity }: InsertEvent<Ticket>) => void (entity.serial = '77') };
    dataSource.subscribers.unshift(front);
    const ticket: Partial<Ticket> = {};
    await expect(dataSource.manager.insert(Ticket, [ticket, { title: 'taken' }])).rejects.toThrow();
    dataSource.subscribers.splice(dataSource.subscribers.indexOf(front), 1);
    await dataSource.manager.insert(Ticket, [ticket, ticket]);
    expect(await dataSource.manager.countBy(Ticket, { serial: '77' })).toBe(2);
  });

  it('keep the IDs that assign() has given', async () => {
    const copy = attached.assign(new Copied());
    const { serial } = copy;
    await dataSource
      .transaction(async (manager) => {
        await manager.insert(Copied, copy);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    delete (copy as Partial<Copied>).no;
    await dataSource.manager.insert(Copied, [copy, copy]);
    expect(await dataSource.manager.countBy(Copied, { serial })).toBe(2);
  });

  it.each([
    ['committed', false],
    ['rolled back', true],
  ])('have one ID in two archives at once: %s', async (_end, isLost) => {
    const ticket: Partial<Ticket> = {};
    await dataSource
      .transaction(async (manager) => {
        await manager.insert(Ticket, ticket);
        await manager.transaction(() => Promise.reject(new Error('a savepoint'))).catch(() => undefined);
        if (isLost) throw new Error('rolled back');
      })
      .catch(() => undefined);
    const { serial } = ticket;
    const copy = { serial: serial! };
    await Promise.all([dataSource.manager.insert(Copied, ticket), dataSource.manager.insert(Stored, ticket)]);
    expect(await dataSource.manager.countBy(Copied, copy)).toBe(1);
    expect(await dataSource.manager.countBy(Stored, copy)).toBe(1);
  });

  it('have one ID in two databases at once', async () => {
    const mirrors = await Promise.all(
      [1, 2].map(async () => {
        const mirror = await testDatabase('sqlite');
        const other = await new DataSource({ ...mirror.options, entities: [Ticket], synchronize: true }).initialize();
        attachSnowflakes(other, snowflakeSource());
        return { mirror, other };
      }),
    );
    const ticket = await dataSource.manager.save(Object.assign(new Ticket(), { title: null }));
    await Promise.all(mirrors.map(({ other }) => other.manager.insert(Ticket, ticket)));
    for (const { mirror, other } of mirrors) {
      expect(await other.manager.find(Ticket)).toMatchObject([{ serial: ticket.serial }]);
      await other.destroy();
      await mirror.drop();
    }
  });

  it.each(['upsert', 'orIgnore'] as const)('are found by the keys of their objects: two %s() at once', async (how) => {
    const letter = await dataSource.manager.save(Object.assign(new Letter(), { stamp: {} }));
    const write = (): Promise<unknown> =>
      how === 'upsert'
        ? dataSource.manager.upsert(Letter, letter, ['id'])
        : dataSource.createQueryBuilder().insert().into(Letter).values(letter).orIgnore().execute();
    await Promise.all([write(), write()]);
    await dataSource.manager.upsert(Letter, [letter], ['id']);
    expect(await dataSource.manager.count(Letter)).toBe(2);
  });

  it('are not all kept by a transaction that goes on', async () => {
    const rows = Array.from({ length: 6_000 }, (): Partial<Ticket> => ({}));
    const [first] = rows;
    await expect(
      dataSource.transaction(async (manager) => {
        for (let at = 0; at < rows.length; at += 2_000) await manager.insert(Ticket, rows.slice(at, at + 2_000));
        await manager.insert(
          Ticket,
          rows.map(() => ({})),
        );
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    delete first!.no;
    await dataSource.manager.insert(Ticket, [first!, first!]);
    await expectTickets(3);
  });

  it('do not get an ID that comes late', async () => {
    const [slow, slower] = [handSource('slow'), handSource('slower')];
    for (const { source } of [slow, slower]) attachSnowflakes(dataSource, source);
    const bill: Partial<Bill> = {};
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    const saved = runner.manager.save(Bill, bill);
    const refused = expect(saved).rejects.toThrow('refused');
    await until('both services are asked', () => slow.asks.length + slower.asks.length === 2);
    slower.asks[0]!.refuse();
    await refused;
    const again = runner.manager.insert(Bill, bill);
    const given = again.then(() => true);
    await until('the second row has its IDs', () => {
      for (const each of [...slow.asks.slice(1), ...slower.asks.slice(1)]) each.give();
      return Promise.race([given, setImmediate(false)]);
    });
    const { invoice } = bill;
    slow.asks[0]!.give();
    await setImmediate();
    expect(bill.invoice).toBe(invoice);
    await runner.commitTransaction();
    await runner.release();
    expect(await dataSource.manager.find(Bill)).toMatchObject([{ invoice, receipt: bill.receipt }]);
  });
});
