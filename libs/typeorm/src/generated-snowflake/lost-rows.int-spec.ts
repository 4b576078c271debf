import { setImmediate } from 'node:timers/promises';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
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

describe.each(databaseKinds)('Rows whose insert was lost, inserted again on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let refuse: 'no row' | 'at once' | 'later' = 'no row';

  beforeEach(async () => {
    refuse = 'no row';
    database = await testDatabase(kind);
    const entities = [Ticket, Letter];
    dataSource = await new DataSource({ ...database.options, entities, synchronize: true }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
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

  it.each(['insert', 'save'] as const)(
    'are the rows of the application once they are written: %s() twice at once',
    async (way) => {
      const letter = Object.assign(new Letter(), { stamp: {} });
      await dataSource.transaction((manager) =>
        way === 'save' ? manager.save(letter) : manager.insert(Letter, letter),
      );
      const copies = [1, 2].map(() => Object.assign(new Letter(), { stamp: letter.stamp }));
      const { manager } = dataSource;
      await Promise.all(copies.map((each) => manager.insert(Letter, each)));
      const { serial } = letter.stamp;
      expect((await manager.find(Letter)).filter((each) => each.stamp.serial === serial)).toHaveLength(3);
    },
  );
});
