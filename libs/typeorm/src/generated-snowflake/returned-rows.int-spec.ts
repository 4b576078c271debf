import { Column, CreateDateColumn, DataSource, Entity, PrimaryColumn, VersionColumn } from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

/** The database sets some of its values: where it has no RETURNING, TypeORM reads the rows again. */
@Entity({ name: 'returned_order' })
class Order {
  @GeneratedSnowflake()
  id!: string;

  @Column({ type: 'varchar', length: 20, unique: true, nullable: true })
  title!: string | null;

  @Column({ type: 'int', default: 7 })
  rank!: number;

  @CreateDateColumn()
  createdAt!: Date;

  @VersionColumn()
  version!: number;
}

@Entity({ name: 'returned_item' })
class Item {
  @GeneratedSnowflake({ prefix: 'item' })
  id!: string;

  @PrimaryColumn({ type: 'varchar', length: 20 })
  region!: string;

  @Column({ type: 'int', default: 7 })
  rank!: number;
}

class Label {
  @GeneratedSnowflake()
  value!: string;
}

@Entity({ name: 'returned_parcel' })
class Parcel {
  @Column(() => Label)
  number!: Label;

  @Column({ type: 'int', default: 7 })
  rank!: number;
}

@Entity({ name: 'returned_price' })
class Price {
  @GeneratedSnowflake()
  id!: string;

  /** Reads `1.50` as it was not written. */
  @PrimaryColumn({ type: 'varchar', length: 20, transformer: { to: String, from: (value: string) => value.trim() } })
  amount!: string;

  @Column({ type: 'int', default: 7 })
  rank!: number;
}

@Entity({ name: 'returned_line' })
class Line {
  @GeneratedSnowflake()
  id!: string;

  @PrimaryColumn({ type: 'int' })
  line!: number;

  @Column({ type: 'int', default: 7 })
  rank!: number;
}

/** Its key is named like a member of every object. */
@Entity({ name: 'returned_maker' })
class Maker {
  @GeneratedSnowflake({ name: 'constructor' })
  id!: string;

  @Column({ type: 'int', default: 7 })
  rank!: number;
}

/** Its columns are named like what MySQL answers to an INSERT. No value is set by the database, so nothing is returned. */
@Entity({ name: 'returned_note' })
class Note {
  @GeneratedSnowflake({ prefix: 'note', name: 'info' })
  id!: string;

  @GeneratedSnowflake({ primary: false })
  insertId!: string;
}

describe.each(databaseKinds)('What TypeORM sets in the objects of inserted rows on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    dataSource = await new DataSource({
      ...database.options,
      entities: [Order, Item, Parcel, Price, Line, Maker, Note],
      synchronize: true,
    }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const some = (): Partial<Order>[] => [
    { id: '9000000000000000000', title: 'a' },
    { title: 'b', rank: 3 },
    { id: '5', title: 'c', rank: 5 },
    { title: 'd' },
  ];

  it.each([
    ['insert', (rows: Partial<Order>[]) => dataSource.manager.insert(Order, rows)],
    ['upsert', (rows: Partial<Order>[]) => dataSource.manager.upsert(Order, rows, ['title'])],
    ['save', (rows: Partial<Order>[]) => dataSource.manager.save(Order, rows)],
    [
      'save in chunks',
      (rows: Partial<Order>[]) => dataSource.manager.save(Order, rows, { chunk: 3, transaction: false }),
    ],
  ])('is that of their own rows: %s()', async (_way, write) => {
    const rows = some();
    await write(rows);
    expect(rows.map(({ title }) => title)).toEqual(['a', 'b', 'c', 'd']);
    expect(rows.map(({ rank }) => rank)).toEqual([7, 3, 5, 7]);
    expect(rows.map(({ id }) => id)).toEqual(['9000000000000000000', expect.any(String), '5', expect.any(String)]);
    for (const { id, title } of rows) {
      expect(await dataSource.manager.findOneByOrFail(Order, { id: id! })).toMatchObject({ title });
    }
  });

  it('names the key of each row in the result', async () => {
    const { identifiers, generatedMaps } = await dataSource.manager.insert(Order, [{ id: '9' }, { id: '5' }]);
    expect(identifiers).toEqual([{ id: '9' }, { id: '5' }]);
    expect(generatedMaps).toHaveLength(2);
  });

  it('gives no object the key of another where an upsert meets a row that exists', async () => {
    await dataSource.manager.insert(Order, { id: '9', title: 'a' });
    const rows: Partial<Order>[] = [{ title: 'a', rank: 1 }, { title: 'b' }];
    await dataSource.manager.upsert(Order, rows, ['title']);
    expect(rows[0]!.id).not.toBe(rows[1]!.id);
    expect(await dataSource.manager.findOneByOrFail(Order, { title: 'b' })).toMatchObject({ id: rows[1]!.id });
    expect(rows[0]!.rank).toBe(1);
    expect(await dataSource.manager.findOneByOrFail(Order, { title: 'a' })).toMatchObject({ id: '9', rank: 1 });
  });

  it('comes for 3,000 rows as well', async () => {
    const rows = Array.from({ length: 3000 }, (): Partial<Order> => ({}));
    await dataSource.manager.insert(Order, rows);
    expect(await dataSource.manager.count(Order)).toBe(3000);
    expect(rows.every(({ rank }) => rank === 7)).toBe(true);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(3000);
  });

  it('is that of their own rows where the key has a prefix and a second column', async () => {
    const rows: Partial<Item>[] = [{ region: 'z', rank: 1 }, { region: 'b' }, { region: 'a', rank: 2 }];
    await dataSource.manager.insert(Item, rows);
    const other: Partial<Item>[] = [
      { id: rows[2]!.id!, region: 'z' },
      { id: rows[0]!.id!, region: 'a', rank: 4 },
    ];
    await dataSource.manager.insert(Item, other);
    expect(rows.map(({ rank }) => rank)).toEqual([1, 7, 2]);
    expect(other.map(({ id, region, rank }) => [id, region, rank])).toEqual([
      [rows[2]!.id, 'z', 7],
      [rows[0]!.id, 'a', 4],
    ]);
  });

  it('is that of their own rows where a part of the key is 0', async () => {
    const rows: Partial<Line>[] = [
      { id: '9', line: 0 },
      { id: '5', line: 0, rank: 3 },
    ];
    await dataSource.manager.insert(Line, rows);
    expect(rows.map(({ id, rank }) => [id, rank])).toEqual([
      ['9', 7],
      ['5', 3],
    ]);
  });

  it('is that of their own rows where the key is embedded', async () => {
    const rows = [{ number: { value: '9' } }, { number: { value: '5' }, rank: 3 }] as Parcel[];
    await dataSource.manager.insert(Parcel, rows);
    expect(rows).toEqual([
      { number: { value: '9' }, rank: 7 },
      { number: { value: '5' }, rank: 3 },
    ]);
  });

  it('comes where another part of the key reads differently than it was written', async () => {
    const rows: Partial<Price>[] = [
      { id: '9', amount: ' 1.5' },
      { id: '5', amount: '2 ', rank: 3 },
    ];
    await dataSource.manager.insert(Price, rows);
    expect(rows.map(({ id, rank }) => [id, rank])).toEqual([
      ['9', 7],
      ['5', 3],
    ]);
  });

  it('is the ID where its column is named like a member of every object', async () => {
    const row: Partial<Maker> = {};
    const { identifiers } = await dataSource.manager.insert(Maker, row);
    const stored = await dataSource.manager.findOneByOrFail(Maker, {});
    expect(row).toEqual(stored);
    expect(identifiers).toEqual([{ id: stored.id }]);
  });

  it('is the ID where columns are named like what the server answers', async () => {
    const rows: Partial<Note>[] = [{}, {}];
    await dataSource.manager.insert(Note, rows);
    expect(rows).toEqual(await dataSource.manager.find(Note, { order: { id: 'ASC' } }));
  });

  it('does not change what a query of the application finds', async () => {
    await dataSource.manager.insert(Order, [{ id: '9' }, { id: '5' }, { id: '7' }]);
    const query = () => dataSource.manager.createQueryBuilder(Order, 'o').orderBy('o.id', 'ASC');
    const found = await query()
      .where([{ id: '9' }, { id: '5' }, { id: '77' }])
      .getMany();
    expect(found.map(({ id }) => id)).toEqual(['5', '9']);
    expect(
      await query()
        .where([{ id: '9', rank: 8 }, { id: '5' }])
        .getCount(),
    ).toBe(1);
    expect(
      await query()
        .where([{ id: '9' }, { id: '5' }])
        .andWhere('o.rank = 7')
        .where('o.rank = 8')
        .getMany(),
    ).toEqual([]);
    const table = dataSource.createQueryBuilder().select('x.id', 'id').from('returned_order', 'x');
    expect(await table.where('x.rank = 7').getRawMany()).toHaveLength(3);
  });
});
