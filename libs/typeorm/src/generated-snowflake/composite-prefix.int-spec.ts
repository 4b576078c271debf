import {
  ChildEntity,
  Column,
  DataSource,
  DeleteDateColumn,
  Entity,
  In,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  Not,
  OneToMany,
  PrimaryColumn,
  type Relation,
  RelationId,
  type Repository,
  TableInheritance,
  Unique,
} from 'typeorm';
import { snowflakeSource } from '../../../../test/support/module/snowflake-source.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { attachSnowflakes } from './attach-snowflakes.js';
import { GeneratedSnowflake } from './generated-snowflake.decorator.js';

/** Both halves of the key are typed. */
@Entity()
class Account {
  @GeneratedSnowflake({ prefix: 'tenant' })
  tenantId!: string;

  @GeneratedSnowflake({ prefix: 'account' })
  id!: string;

  @Column({ type: 'varchar', length: 40, default: '' })
  name!: string;

  @Column({ type: 'int', default: 0 })
  uses!: number;

  @DeleteDateColumn()
  deletedAt!: Date | null;

  @OneToMany(() => Entry, (entry) => entry.account, { cascade: true })
  entries!: Relation<Entry>[];

  @OneToMany(() => Entry, (entry) => entry.payer)
  paid!: Promise<Entry[]>;

  @ManyToMany(() => Label, (label) => label.accounts, { cascade: true })
  @JoinTable()
  labels!: Relation<Label>[];

  @ManyToMany(() => Slot, { cascade: true })
  @JoinTable()
  slots!: Relation<Slot>[];

  @RelationId((account: Account) => account.labels)
  labelIds!: string[];

  @RelationId((account: Account) => account.slots)
  slotIds!: Pick<Slot, 'id' | 'place'>[];
}

@Entity()
class Entry {
  @GeneratedSnowflake({ prefix: 'entry' })
  id!: string;

  @Column({ type: 'varchar', length: 40, default: '' })
  title!: string;

  @Column({ type: 'bigint', nullable: true })
  tenant!: string | null;

  @Column({ type: 'bigint', nullable: true })
  accountId!: string | null;

  @ManyToOne(() => Account, (account) => account.entries, { nullable: true })
  @JoinColumn([
    { name: 'tenant', referencedColumnName: 'tenantId' },
    { name: 'accountId', referencedColumnName: 'id' },
  ])
  account!: Relation<Account> | null;

  @Column({ type: 'bigint', nullable: true })
  payerTenantId!: string | null;

  @Column({ type: 'bigint', nullable: true })
  payerId!: string | null;

  @ManyToOne(() => Account, (account) => account.paid, { lazy: true, nullable: true })
  payer!: Promise<Account | null>;

  @RelationId((entry: Entry) => entry.account)
  accountKey!: Pick<Account, 'tenantId' | 'id'>;
}

@Entity()
class Label {
  @GeneratedSnowflake({ prefix: 'label' })
  id!: string;

  @ManyToMany(() => Account, (account) => account.labels)
  accounts!: Relation<Account>[];

  @RelationId((label: Label) => label.accounts)
  accountIds!: Pick<Account, 'tenantId' | 'id'>[];
}

/** One half of the key is typed. */
@Entity()
class Slot {
  @GeneratedSnowflake({ prefix: 'slot' })
  id!: string;

  @PrimaryColumn({ type: 'int' })
  place!: number;
}

/** One half of the key is a foreign key, and so is all of it. */
@Entity()
class Line {
  @PrimaryColumn({ type: 'bigint' })
  entryId!: string;

  @GeneratedSnowflake({ prefix: 'line' })
  id!: string;

  @ManyToOne(() => Entry)
  entry!: Relation<Entry>;

  @Column({ type: 'varchar', length: 40, default: '' })
  text!: string;
}

@Entity()
class Tagging {
  @PrimaryColumn({ type: 'bigint' })
  entryId!: string;

  @PrimaryColumn({ type: 'bigint' })
  labelId!: string;

  @ManyToOne(() => Entry)
  entry!: Relation<Entry>;

  @ManyToOne(() => Label)
  label!: Relation<Label>;

  @Column({ type: 'varchar', length: 40, default: '' })
  text!: string;
}

/** Referred to by typed columns that are not its key. */
@Entity()
@Unique(['region', 'code'])
class Store {
  @GeneratedSnowflake({ prefix: 'store' })
  id!: string;

  @GeneratedSnowflake({ prefix: 'region', primary: false })
  region!: string;

  @GeneratedSnowflake({ prefix: 'code', primary: false })
  code!: string;

  @OneToMany(() => Media, (media) => media.store)
  media!: Relation<Media>[];
}

@Entity()
@TableInheritance({ column: { type: 'varchar', length: 20, name: 'kind' } })
class Media {
  @GeneratedSnowflake({ prefix: 'shelf' })
  shelf!: string;

  @GeneratedSnowflake({ prefix: 'media' })
  id!: string;

  @ManyToOne(() => Store, (store) => store.media)
  @JoinColumn([{ referencedColumnName: 'region' }, { referencedColumnName: 'code' }])
  store!: Relation<Store>;
}

@ChildEntity('photo')
class Photo extends Media {
  @GeneratedSnowflake({ prefix: 'shot', primary: false })
  shot!: string;
}

@ChildEntity('video')
class Video extends Media {
  @ManyToOne(() => Media)
  original!: Relation<Media>;
}

const entities = [Account, Entry, Label, Slot, Line, Tagging, Store, Media, Photo, Video];

describe.each(databaseKinds)('Typed IDs in composite keys on %s', (kind) => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let writes: string[] = [];
  let ada: Account;
  let bob: Account;

  beforeAll(async () => {
    database = await testDatabase(kind);
    const logger = {
      logQuery: (sql: string) => void (/^(INSERT|UPDATE|DELETE)/i.test(sql) && writes.push(sql)),
      logQueryError: () => undefined,
      logQuerySlow: () => undefined,
      logSchemaBuild: () => undefined,
      logMigration: () => undefined,
      log: () => undefined,
    };
    const more = { entities, synchronize: true, logging: true, logger };
    dataSource = await new DataSource({ ...database.options, ...more }).initialize();
    attachSnowflakes(dataSource, snowflakeSource());
    const slots = [{ place: 1 }, { place: 2 }];
    ada = await save({ name: 'Ada', entries: [{ title: 'a' }, { title: 'b' }], labels: [{}, {}], slots });
    bob = await save({ name: 'Bob', entries: [{ title: 'c' }] });
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  beforeEach(() => {
    writes = [];
  });

  const accounts = (): Repository<Account> => dataSource.getRepository(Account);
  const entries = (): Repository<Entry> => dataSource.getRepository(Entry);
  const save = async (account: object): Promise<Account> => accounts().save(account as Account);
  const key = ({ tenantId, id }: Account) => ({ tenantId, id });
  const names = (found: readonly Account[]): string[] => found.map(({ name }) => name).sort();
  const titles = (found: readonly Entry[]): string[] => found.map(({ title }) => title).sort();
  const sorted = (ids: readonly unknown[]): string[] => ids.map((id) => JSON.stringify(id)).sort();
  const relation = (target: unknown, name: string) => dataSource.createQueryBuilder().relation(target as never, name);

  it('are found by every kind of condition', async () => {
    expect(names(await accounts().findBy(key(ada)))).toEqual(['Ada']);
    expect(names(await accounts().findBy([key(ada), key(bob)]))).toEqual(['Ada', 'Bob']);
    expect(names(await accounts().findBy({ id: In([ada.id, bob.id]) }))).toEqual(['Ada', 'Bob']);
    expect(names(await accounts().findBy({ id: Not(ada.id), tenantId: Not(In([ada.tenantId])) }))).toEqual(['Bob']);
    expect(titles(await entries().findBy({ account: key(ada) }))).toEqual(['a', 'b']);
    expect(titles(await entries().findBy([{ account: key(ada) }, { account: key(bob) }]))).toEqual(['a', 'b', 'c']);
    expect(titles(await entries().findBy({ account: { id: In([ada.id, bob.id]) } }))).toEqual(['a', 'b', 'c']);
    expect(titles(await entries().findBy({ tenant: ada.tenantId, accountId: ada.id }))).toEqual(['a', 'b']);
    expect(names(await accounts().findBy({ labels: { id: ada.labels[1]!.id } }))).toEqual(['Ada']);
    expect(names(await accounts().findBy({ slots: ada.slots[1]! }))).toEqual(['Ada']);
  });

  it('are found by query builders', async () => {
    const query = () => accounts().createQueryBuilder('a');
    expect(
      names(
        await query()
          .whereInIds([key(ada), key(bob)])
          .getMany(),
      ),
    ).toEqual(['Ada', 'Bob']);
    expect(names(await query().whereInIds([ada]).getMany())).toEqual(['Ada']);
    expect(
      names(
        await query()
          .where([key(ada), key(bob)])
          .getMany(),
      ),
    ).toEqual(['Ada', 'Bob']);
    const entry = () => entries().createQueryBuilder('entry');
    expect(await entry().where({ account: ada }).getCount()).toBe(2);
    expect(await entry().where('entry.tenant = :tenantId AND entry.accountId = :id', key(ada)).getCount()).toBe(2);
    const page = await query().leftJoinAndSelect('a.entries', 'e').orderBy('e.title', 'DESC').skip(1).take(1).getMany();
    expect([names(page), titles(page[0]!.entries)]).toEqual([['Ada'], ['a', 'b']]);
  });

  it('are found by tuples in SQL, and stored as integers by inserts in SQL', async () => {
    const query = () => accounts().createQueryBuilder('a');
    const list = (tuples: string): string => (kind === 'sqlite' ? `(VALUES ${tuples})` : `(${tuples})`);
    const both = { t: ada.tenantId, i: ada.id, u: bob.tenantId, j: bob.id, n: 2, m: 1 };
    expect(names(await query().where('(a.tenantId, a.id) = (:t, :i)', both).getMany())).toEqual(['Ada']);
    const pairs = `(a.id, a.tenantId) IN ${list('(:i, :t), (:j, :u)')}`;
    expect(names(await query().where(pairs, both).getMany())).toEqual(['Ada', 'Bob']);
    expect(names(await query().where('(a.tenantId, a.id) > (:t, :i)', both).getMany())).toEqual(['Bob']);
    const slots = dataSource.getRepository(Slot).createQueryBuilder('s');
    const [first, second] = ada.slots.map(({ id }) => id);
    const places = `(s.id, s.place) IN ${list('(:first, 1), (:second, :n)')}`;
    expect(await slots.where(places, { ...both, first, second }).getCount()).toBe(2);

    const values = kind === 'postgres' ? '($1, $2, $3)' : '(?, ?, ?)';
    const [column, table] = ['entryId', 'tagging'].map((name) => dataSource.driver.escape(name)) as [string, string];
    const labelId = dataSource.driver.escape('labelId');
    const given = [ada.entries[0]!.id, 'entry_00000000001', ada.labels[0]!.id];
    await dataSource.query(`INSERT INTO ${table} (${column}, text, ${labelId}) VALUES ${values}`, given);
    const tagging = dataSource.getRepository(Tagging);
    const found = await tagging.findOneByOrFail({ entryId: given[0], labelId: given[2] });
    expect(found.text).toBe('entry_00000000001');
    await tagging.remove(found);
  });

  it.each(['join', 'query'] as const)('are read with their relations by strategy %s', async (relationLoadStrategy) => {
    const options = { relationLoadStrategy, take: 2 } as const;
    const relations = { entries: true, labels: true, slots: true } as const;
    const found = await accounts().find({ ...options, relations, order: { name: 'ASC' } });
    expect(found.map(({ entries }) => titles(entries))).toEqual([['a', 'b'], ['c']]);
    expect(found.map(({ labels, slots }) => [labels.length, slots.length])).toEqual([
      [2, 2],
      [0, 0],
    ]);
    const where = { title: In(['a', 'c']) };
    const of = await entries().find({ ...options, where, relations: { account: true }, order: { title: 'ASC' } });
    expect(of.map(({ account }) => account?.name)).toEqual(['Ada', 'Bob']);
    const [label] = await dataSource.getRepository(Label).find({ ...options, relations: { accounts: true } });
    expect(names(label!.accounts)).toEqual(['Ada']);
    await accounts().save(found);
    await entries().save(of);
    expect(writes).toEqual([]);
  });

  it('are read lazily, as IDs, and by the query builder of a relation', async () => {
    const entry = entries().create({ title: 'paid' });
    entry.payer = Promise.resolve(ada);
    await entry.payer;
    await entries().save(entry);
    expect(await (await entries().findOneByOrFail({ id: entry.id })).payer).toMatchObject(key(ada));
    const found = await accounts().findOneByOrFail(key(ada));
    expect(titles(await found.paid)).toEqual(['paid']);
    await entries().remove(entry);

    const labelIds = ada.labels.map(({ id }) => id);
    const slotKeys = ada.slots.map(({ id, place }) => ({ id, place }));
    expect([sorted(found.labelIds), sorted(found.slotIds)]).toEqual([sorted(labelIds), sorted(slotKeys)]);
    const [id] = ada.entries.map((each) => each.id);
    expect((await entries().findOneByOrFail({ id })).accountKey).toEqual(key(ada));
    expect((await dataSource.getRepository(Label).findOneByOrFail({ id: labelIds[0] })).accountIds).toEqual([key(ada)]);
    expect(await entries().find({ where: { id }, loadRelationIds: true })).toMatchObject([{ account: key(ada) }]);
    expect(await relation(Account, 'entries').of(key(ada)).loadMany()).toHaveLength(2);
    expect(await relation(Account, 'slots').of(ada).loadMany()).toHaveLength(2);
    expect(await relation(Entry, 'account').of(id).loadOne()).toMatchObject(key(ada));
    expect(await relation(Label, 'accounts').of(labelIds[0]).loadMany()).toMatchObject([key(ada)]);
  });

  it('are related by the query builder of a relation', async () => {
    const fresh = await save({ name: 'Cid' });
    const entry = await entries().save({ title: 'set' } as Entry);
    const slot = ada.slots.map(({ id, place }) => ({ id, place }))[0]!;
    const counts = async (): Promise<number[]> => {
      const { labelIds, slotIds } = await accounts().findOneByOrFail(key(fresh));
      return [labelIds.length, slotIds.length, await entries().countBy({ account: key(fresh) })];
    };
    await relation(Label, 'accounts').of(ada.labels[0]).add(key(fresh));
    await relation(Account, 'slots').of(fresh).add(slot);
    await relation(Entry, 'account').of(entry.id).set(key(fresh));
    expect(await counts()).toEqual([1, 1, 1]);
    await relation(Label, 'accounts').of(ada.labels[0]).remove(key(fresh));
    await relation(Account, 'slots').of(fresh).remove(slot);
    await relation(Account, 'entries').of(key(fresh)).remove(entry);
    expect(await counts()).toEqual([0, 0, 0]);
    await entries().remove(entry);
    await accounts().remove(fresh);
  });

  it('are updated, and not inserted again', async () => {
    await accounts().save([
      { ...key(ada), uses: 1 },
      { ...key(bob), uses: 2 },
    ]);
    await accounts().save((await accounts().preload({ ...key(ada), uses: 5 }))!);
    await accounts().update(key(ada), { uses: 6 });
    await accounts().increment(key(ada), 'uses', 1);
    await accounts().upsert({ ...key(bob), name: 'Bob', uses: 8 }, ['tenantId', 'id']);
    const found = await accounts().find({ order: { name: 'ASC' } });
    expect(found.map(({ name, uses }) => [name, uses])).toEqual([
      ['Ada', 7],
      ['Bob', 8],
    ]);
    const entry = await entries().save({ title: 'moved', account: key(ada) } as Entry);
    await entries().update(entry.id, { account: key(bob) });
    await entries().update({ account: key(bob), id: entry.id }, { title: 'moved twice' });
    expect(await entries().countBy({ title: 'moved twice', account: key(bob) })).toBe(1);
    await entries().delete({ account: key(bob), title: 'moved twice' });
    expect(await entries().countBy({ id: entry.id })).toBe(0);
  });

  it('are removed, also softly, and recovered', async () => {
    const [one, other] = await accounts().save([{ name: 'Dan' }, { name: 'Eve' }] as Account[]);
    const count = (): Promise<number> => accounts().countBy([key(one!), key(other!)]);
    await accounts().softRemove(await accounts().findOneByOrFail(key(one!)));
    await accounts().softDelete(key(other!));
    expect(await count()).toBe(0);
    await accounts().recover(await accounts().findOneOrFail({ where: key(one!), withDeleted: true }));
    await accounts().restore(key(other!));
    expect(await count()).toBe(2);
    await accounts().remove(await accounts().findOneByOrFail(key(one!)));
    await accounts().delete(key(other!));
    expect(await accounts().count({ where: [key(one!), key(other!)], withDeleted: true })).toBe(0);
  });

  it('are taken from their relations by save', async () => {
    const one = await save({ name: 'Fay', labels: [{}, {}], slots: [{ place: 9 }], entries: [{}, {}] });
    const relations = { labels: true, slots: true, entries: true } as const;
    const read = (): Promise<Account> => accounts().findOneOrFail({ where: key(one), relations });
    const found = await read();
    for (const each of [found.labels, found.slots, found.entries]) each.pop();
    await accounts().save(found);
    const { labels, slots, entries: left } = await read();
    expect([labels.length, slots.length, left.length]).toEqual([1, 0, 1]);
    await entries().delete(one.entries.map(({ id }) => id));
    await accounts().remove(found);
  });

  it.each([Line, Tagging])('may be foreign keys: %p', async (entity) => {
    const rows = dataSource.getRepository<Line & Tagging>(entity);
    const [entry] = ada.entries;
    const saved = await rows.save(ada.labels.map((label) => ({ entry, label, text: '1' })) as never[]);
    const keys = saved.map(({ entryId, id, labelId }) => (entity === Line ? { entryId, id } : { entryId, labelId }));
    expect(await rows.findBy(keys)).toHaveLength(2);
    expect(await rows.createQueryBuilder('r').whereInIds(keys).getCount()).toBe(2);
    expect(await rows.countBy({ entry: { id: entry!.id } })).toBe(2);
    for (const relationLoadStrategy of ['join', 'query'] as const) {
      const found = await rows.find({ relations: { entry: { account: true } }, relationLoadStrategy, take: 2 });
      expect(found.map((each) => each.entry.account?.name)).toEqual(['Ada', 'Ada']);
      writes = [];
      await rows.save(found);
      expect(writes).toEqual([]);
    }
    await rows.save({ ...keys[0], text: '2' } as never);
    await rows.update(keys[1] as never, { text: '2' });
    expect(await rows.countBy({ text: '2' })).toBe(2);
    await rows.remove(await rows.find());
    expect(await rows.count()).toBe(0);
  });

  it('may be in a single table, and refer to columns that are not a key', async () => {
    const store = await dataSource.getRepository(Store).save({} as Store);
    const photo = await dataSource.getRepository(Photo).save({ store } as Photo);
    const video = await dataSource.getRepository(Video).save({ store, original: photo } as unknown as Video);
    const keys = [photo, video].map(({ shelf, id }) => ({ shelf, id }));
    const found = await dataSource.getRepository(Media).find({ where: keys, relations: { store: true } });
    expect(found.map((each) => [each.constructor.name, each.store.id]).sort()).toEqual([
      ['Photo', store.id],
      ['Video', store.id],
    ]);
    await dataSource.getRepository(Media).save(found);
    expect(await dataSource.getRepository(Media).count()).toBe(2);
    expect(await dataSource.getRepository(Photo).countBy(keys[1]!)).toBe(0);
    expect(await dataSource.getRepository(Photo).countBy({ shot: photo.shot })).toBe(1);
    const { region, code } = store;
    expect(await dataSource.getRepository(Media).countBy({ store: { region, code } })).toBe(2);
    const [again] = await dataSource.getRepository(Video).find({ relations: { original: true }, take: 1 });
    expect(again!.original).toMatchObject(keys[0]!);
    const [read] = await dataSource.getRepository(Store).find({ relations: { media: true }, take: 1 });
    expect(read!.media).toHaveLength(2);
  });

  it('are stored as integers, also on SQLite, which keeps a text in such a column', async () => {
    for (const { tableName, columns } of kind === 'sqlite' ? dataSource.entityMetadatas : []) {
      for (const { databaseName } of columns.filter(({ type }) => type === 'bigint')) {
        const sql = `SELECT "${databaseName}" FROM "${tableName}" WHERE typeof("${databaseName}") = 'text'`;
        expect(await dataSource.query(sql)).toEqual([]);
      }
    }
  });
});
