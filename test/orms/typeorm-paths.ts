import { And, In, MoreThan } from 'typeorm';
import { pathsOf, rows, type Claim, type EntityPath, type PathSetting } from '../product/entities/entity-path.js';
import { findPaths } from '../product/entities/find-paths.js';
import { graphPaths } from '../product/entities/graph-paths.js';
import { bulkPaths, insertPaths } from '../product/entities/insert-paths.js';
import { plainEntities } from '../product/entities/plain-entities.js';
import type { Id } from '../product/entities/property-form.js';
import { refusedPaths } from '../product/entities/refused-paths.js';
import { relationPaths } from '../product/entities/relation-paths.js';
import { savePaths } from '../product/entities/save-paths.js';
import { isOfDatabase } from '../support/servers/id-function.js';
import type { DatabaseKind } from '../support/servers/test-databases.js';
import type { Upsert } from './upsert.js';
import { UPSERTS } from './upserts.js';

/** The paths of TypeORM that a row of the table in docs/write-paths.md stands for. */
export interface TypeormRow {
  readonly row: string;
  readonly paths: readonly EntityPath[];
  /** Where TypeORM has these paths; everywhere unless given. */
  readonly on?: readonly DatabaseKind[];
  /** What makes them wrong, where that is not ours: an issue of TypeORM. */
  readonly wrongBy?: string;
  /** What the table says where they are right; `filled` or `exact` unless given. */
  readonly right?: string;
}

type Setting = PathSetting<ReturnType<typeof plainEntities.build>>;

const RETURNING: readonly DatabaseKind[] = ['mariadb', 'postgres'];

/** Digits of an ID that the generator has left behind minutes ago, before it was made. */
function earlierDigits({ form }: Setting, id: Id): string {
  return String(BigInt(form.digits(id)) - 10n ** 12n);
}

/** The IDs of three notes in one JSON array, as the database makes it of the column, or of the column as a text. */
async function aggregated({ dataSource, form, manager, entities: { Note } }: Setting, asText: boolean) {
  const notes = await manager.save(Note, [{}, {}, {}]);
  const ids = notes.map(({ id }) => id);
  const type = dataSource.options.type as 'mariadb' | 'postgres' | 'better-sqlite3';
  const column = asText ? `CAST(note.id AS ${type === 'mariadb' ? 'CHAR' : 'TEXT'})` : 'note.id';
  const aggregate = { mariadb: 'JSON_ARRAYAGG', postgres: 'json_agg', 'better-sqlite3': 'json_group_array' }[type];
  const query = manager.createQueryBuilder(Note, 'note').select(`${aggregate}(${column})`, 'ids').whereInIds(ids);
  const { ids: json } = (await query.getRawOne<{ ids: unknown }>())!;
  const read = (typeof json === 'string' ? JSON.parse(json) : json) as (string | number)[];
  expect(read.map(String).sort()).toEqual(ids.map((id) => form.digits(id)).sort());
  return [rows(Note, notes)];
}

/** What test/product/entities does not measure. */
const others = pathsOf(plainEntities, {
  returning: async ({ dataSource, form, entities: { Note } }) => {
    const values = [{ title: 'a' }, { title: 'b' }] as { id?: Id; title: string }[];
    const inserted = await dataSource.createQueryBuilder().insert().into(Note).values(values).returning('id').execute();
    expect((inserted.raw as { id: unknown }[]).map(({ id }) => String(id))).toEqual(
      values.map(({ id }) => form.digits(id!)),
    );
    return [rows(Note, values)];
  },
  'default values': async ({ dataSource, entities: { Note } }) => {
    const value = {};
    await dataSource.createQueryBuilder().insert().into(Note).values(value).execute();
    return [rows(Note, [value])];
  },
  'upsert, returning': async ({ form, manager, entities: { Tag } }) => {
    const upsert = async (uses: number): Promise<string> => {
      const options = { conflictPaths: ['name'], returning: ['id'] };
      const upserted = await manager.upsert(Tag, { name: 'returned', uses }, options);
      return String((upserted.raw as { id: unknown }[])[0]!.id);
    };
    const told = [await upsert(1), await upsert(2)];
    const tag = await manager.findOneByOrFail(Tag, { name: 'returned' });
    expect(told).toEqual([form.digits(tag.id), form.digits(tag.id)]);
    return [rows(Tag, [tag])];
  },
  'upsert, identifiers': async ({ manager, entities: { Tag } }) => {
    const upsert = async (uses: number): Promise<unknown> => {
      const { identifiers } = await manager.upsert(Tag, { name: 'identified', uses }, ['name']);
      return identifiers[0]!['id'];
    };
    const told = [await upsert(1), await upsert(2)];
    const tag = await manager.findOneByOrFail(Tag, { name: 'identified' });
    expect(told).toEqual([tag.id, tag.id]);
    return [rows(Tag, [tag])];
  },
  'upsert of the key': async ({ dataSource, manager, entities: { Tag } }) => {
    const insert = (uses: number): Promise<unknown> =>
      dataSource
        .createQueryBuilder()
        .insert()
        .into(Tag)
        .values({ name: 'key', uses })
        .orUpdate(['id', 'uses'], ['name'])
        .execute();
    await insert(1);
    const tag = await manager.findOneByOrFail(Tag, { name: 'key' });
    await insert(2);
    expect((await manager.findOneByOrFail(Tag, { name: 'key' })).id).toBe(tag.id);
    return [rows(Tag, [tag])];
  },
  prepared: async ({ dataSource, manager, entities: { Label } }) => {
    const builder = dataSource.createQueryBuilder().insert().into(Label).values({ text: 'prepared' });
    const told: unknown[] = [];
    for (let run = 0; run < 3; run++) told.push((await builder.execute()).identifiers[0]!['id']);
    const labels = await manager.find(Label, { where: { text: 'prepared' }, order: { id: 'ASC' } });
    expect(labels.map(({ id }) => id)).toEqual(told);
    return [rows(Label, labels)];
  },
  'from select, with the key': async (setting) => {
    const { dataSource, form, manager, entities } = setting;
    const [note] = await manager.save(entities.Note, [{ title: 'a' }]);
    const digits = earlierDigits(setting, note!.id);
    const select = manager
      .createQueryBuilder(entities.Note, 'note')
      .select(digits)
      .addSelect("'selected'")
      .where({ id: note!.id });
    const insert = dataSource.createQueryBuilder().insert().into(entities.Note, ['id', 'title']);
    await insert.valuesFromSelect(select).execute();
    return [rows(entities.Note, [note!, { id: form.fromDigits(digits) }])];
  },
  'raw, with the key': async (setting) => {
    const { dataSource, form, manager, entities } = setting;
    const [note] = await manager.save(entities.Note, [{}]);
    const digits = earlierDigits(setting, note!.id);
    await dataSource.query(`INSERT INTO note (id, title) VALUES (${digits}, 'by hand')`);
    return [rows(entities.Note, [note!, { id: form.fromDigits(digits) }])];
  },
  'raw, databaseDefault': async ({ dataSource, form, manager, entities: { Note } }) => {
    await dataSource.query(`INSERT INTO note (title) VALUES ('by the database')`);
    const [note] = await manager.findBy(Note, { title: 'by the database' });
    expect(isOfDatabase(form.digits(note!.id))).toBe(true);
    // What is left in the table shall be of the process.
    await manager.delete(Note, { title: 'by the database' });
    return [];
  },
  'toSQL() by the driver': async ({ dataSource, entities: { Note } }) => {
    const builder = dataSource.createQueryBuilder().insert().into(Note).values({ title: 'driven' });
    await dataSource.query(...builder.getQueryAndParameters());
    return [];
  },
  'raw SQL': async ({ dataSource, form, manager, entities: { Note } }) => {
    const notes = await manager.save(Note, [{}, {}, {}]);
    const digits = notes.map(({ id }) => form.digits(id));
    const read = await dataSource.query<{ id: unknown }[]>(
      `SELECT id FROM note WHERE id IN (${digits.join()}) ORDER BY id`,
    );
    // What no entity is made of stays as the driver gave it.
    expect(read.map(({ id }) => String(id))).toEqual(digits);
    return [rows(Note, notes)];
  },
  'JSON aggregate': (setting) => aggregated(setting, false),
  'JSON aggregate, key cast to text': (setting) => aggregated(setting, true),
  stream: async ({ form, manager, entities: { Note } }) => {
    const notes = await manager.save(Note, [{}, {}, {}]);
    const ids = notes.map(({ id }) => id);
    const read: string[] = [];
    const stream = await manager.createQueryBuilder(Note, 'note').whereInIds(ids).orderBy('note.id').stream();
    for await (const row of stream) read.push(String((row as unknown as { note_id: unknown }).note_id));
    expect(read).toEqual(ids.map((id) => form.digits(id)));
    return [rows(Note, notes)];
  },
  cursor: async ({ manager, entities: { Note } }) => {
    const notes = await manager.save(Note, [{}, {}, {}, {}, {}]);
    const ids = notes.map(({ id }) => id);
    const read = ids.slice(0, 1);
    for (;;) {
      const where = { id: And(In(ids), MoreThan(read.at(-1)!)) as never };
      const page = await manager.find(Note, { where, order: { id: 'ASC' }, take: 2 });
      if (page.length === 0) break;
      read.push(...page.map(({ id }) => id));
    }
    expect(read).toEqual(ids);
    return [rows(Note, notes)];
  },
});

/** The ways of an upsert that TypeORM has: `'-'` without one. */
function upsertPath(upsert: Upsert): TypeormRow {
  const { row, statement, key, by, sets } = upsert;
  const found = by === 'id' ? 'id' : 'name';
  const upsertIn = async (setting: Setting, way: UpsertWay): Promise<Claim[]> => {
    const { form, manager, entities } = setting;
    const name = `${row} ${++upserts}`;
    const kept = await manager.save(entities.Tag, { name, uses: 1 });
    const id = key === 'same' ? kept.id : form.fromDigits(earlierDigits(setting, kept.id));
    const others = statement === 'bulk' ? await manager.save(entities.Tag, [{ name: `${name} too`, uses: 0 }]) : [];
    let failure: Error | undefined;
    await way(setting, [...others, { id, name, uses: 2 }], found).catch((error: Error) => (failure = error));
    const [stored, ...more] = await manager.findBy(entities.Tag, { name });
    expect([stored, ...more]).toEqual([{ id: kept.id, name, uses: failure === undefined ? 2 : 1 }]);
    if (failure !== undefined) throw failure;
    return [rows(entities.Tag, [stored!, ...others])];
  };
  const hasNone = sets === 'value' || sets === 'third value' || statement === 'replace' || statement === 'merge';
  const ways = hasNone ? {} : statement === 'query' ? SELECTED[sets] : UPSERTED[sets];
  const paths = Object.entries(ways).map(
    ([name, way]) => [`${row}: ${name}`, (setting: Setting) => upsertIn(setting, way)] as const,
  );
  return { row, paths: pathsOf(plainEntities, Object.fromEntries(paths)), right: 'kept' };
}

let upserts = 0;

interface UpsertedTag {
  readonly id: Id;
  readonly name: string;
  readonly uses: number;
}

type UpsertWay = (setting: Setting, tags: readonly UpsertedTag[], found: 'id' | 'name') => Promise<unknown>;
type UpsertWays = Readonly<Record<'others' | 'new key', Readonly<Record<string, UpsertWay>>>>;

const orUpdate =
  (...columns: readonly string[]): UpsertWay =>
  ({ dataSource, entities: { Tag } }, tags, found) =>
    dataSource
      .createQueryBuilder()
      .insert()
      .into(Tag)
      .values([...tags])
      .orUpdate([...columns], [found])
      .execute();

const selected =
  (...columns: readonly string[]): UpsertWay =>
  ({ dataSource, form, manager, entities: { Tag } }, [tag], found) => {
    const select = manager
      .createQueryBuilder(Tag, 'tag')
      .select(form.digits(tag!.id))
      .addSelect(`'${tag!.name}'`)
      .addSelect('2');
    const insert = dataSource.createQueryBuilder().insert().into(Tag, ['id', 'name', 'uses']);
    return insert
      .valuesFromSelect(select.where({ name: tag!.name }))
      .orUpdate([...columns], [found])
      .execute();
  };

const UPSERTED: UpsertWays = {
  others: {
    'upsert()': ({ manager, entities: { Tag } }, tags, found) => manager.upsert(Tag, [...tags], [found]),
    'upsert() of a repository, changes alone': ({ manager, entities: { Tag } }, tags, found) =>
      manager.getRepository(Tag).upsert([...tags], { conflictPaths: [found], skipUpdateIfNoValuesChanged: true }),
    'orUpdate()': orUpdate('uses'),
  },
  'new key': {
    'orUpdate() with the key': orUpdate('id', 'uses'),
    // MariaDB and SQLite ignore the case of names.
    'orUpdate() with the key in upper case': (setting, tags, found) =>
      orUpdate(setting.dataSource.options.type === 'postgres' ? 'id' : 'ID', 'uses')(setting, tags, found),
  },
};

const SELECTED: UpsertWays = {
  others: { 'orUpdate()': selected('uses') },
  'new key': { 'orUpdate() with the key': selected('id', 'uses') },
};

/** On columns with `databaseDefault`, in place of the row `raw`. */
export const RAW_BY_DATABASE: TypeormRow = {
  row: 'raw',
  paths: others.filter(({ name }) => name === 'raw, databaseDefault'),
  right: 'by the database',
};

const all = [
  ...savePaths,
  ...insertPaths,
  ...bulkPaths,
  ...findPaths,
  ...graphPaths,
  ...relationPaths,
  ...refusedPaths,
  ...others,
];

/** @throws Error where a path is not there any more */
function named(...names: readonly string[]): readonly EntityPath[] {
  return names.map((name) => {
    const path = all.find((each) => each.name === name);
    if (path === undefined) throw new Error(`test/product/entities has no path '${name}'`);
    return path;
  });
}

/** In the order of the table. */
export const WRITES: readonly TypeormRow[] = [
  {
    row: 'single',
    paths: named(
      '`save` of an instance, its key in an abstract base',
      '`save` of a plain object',
      'active record',
      'an `EntitySchema`',
    ),
  },
  { row: 'returning', paths: named('returning'), on: RETURNING },
  { row: 'single, null', paths: named('`save` of an object whose ID is null') },
  {
    row: 'bulk',
    paths: named(
      '`save` of an array of both, in order',
      '`save` with `chunk`',
      '`insert` of one and of many',
      '`insert` of 1,000 in one statement',
      '`save` of 1,100 in one go',
    ),
  },
  {
    row: 'upsert',
    paths: named('`orIgnore()`', '`upsert` of new rows and of existing ones', '`upsert` by the ID'),
  },
  { row: 'upsert, returning', paths: named('upsert, returning'), on: RETURNING },
  {
    row: 'upsert, identifiers',
    paths: named('upsert, identifiers'),
    wrongBy: 'of the object that met the row, typeorm#10214',
  },
  { row: 'upsert of the key', paths: named('upsert of the key') },
  ...UPSERTS.map(upsertPath),
  {
    row: 'transaction',
    paths: named('a transaction, committed', 'a transaction, rolled back', 'a query runner of its own'),
  },
  {
    row: 'nested',
    paths: named(
      'cascade one-to-many, instances',
      'cascade one-to-many, plain objects',
      'cascade many-to-one',
      'cascade one-to-one, from both sides',
      'cascade many-to-many',
      'cascade to its own table, to new children',
      'a foreign key given as an object, as a bare ID, as its own column',
    ),
  },
  { row: 'nested, a new parent in the same table', paths: named('cascade to its own table, to a new parent') },
  { row: 'prepared', paths: named('prepared') },
  { row: 'from select, with the key', paths: named('from select, with the key') },
  { row: 'from select', paths: named('`valuesFromSelect` without the ID') },
  { row: 'raw, with the key', paths: named('raw, with the key') },
  { row: 'raw', paths: named('SQL by hand without the ID') },
  { row: 'toSQL() by the driver', paths: named('toSQL() by the driver') },
  { row: 'default values', paths: named('default values') },
  { row: 'query builder', paths: named('`insert().values()` of a QueryBuilder') },
  {
    row: 'query builder, columns without the key',
    paths: named("a list of columns without the ID: `into(Note, ['title'])`"),
  },
  { row: 'without listeners', paths: named('`save` with `listeners: false`', '`callListeners(false)`') },
];

export const READS: readonly TypeormRow[] = [
  {
    row: 'find',
    paths: named(
      'by the ID, `In`, `Not`, `Or`, `IsNull`',
      'ranges: `Between`, `MoreThan`, `LessThan`, ordered by ID',
      'QueryBuilder: conditions written as SQL',
      '`findAndCount` with skip and take, `exists`, `count`',
    ),
  },
  { row: 'join', paths: named('joins with skip and take') },
  { row: 'stream', paths: named('stream'), on: ['mariadb'] },
  {
    row: 'relation',
    paths: named(
      'find by a relation: its ID, `In`, an object',
      "`relationLoadStrategy: 'query'`",
      '`@RelationId`, `loadRelationIds`, `loadRelationIdAndMap`',
      '`RelationQueryBuilder`: `set`, `add`, `remove`, `loadOne`, `loadMany`',
      'eager relations',
      'lazy relations',
    ),
  },
  { row: 'JSON aggregate', paths: named('JSON aggregate'), wrongBy: 'JSON.parse rounds, typeorm#8229' },
  { row: 'JSON aggregate, key cast to text', paths: named('JSON aggregate, key cast to text') },
  { row: 'raw', paths: named('raw SQL', 'QueryBuilder: `where({ id })`, `whereInIds`, raw results') },
  { row: 'cursor', paths: named('cursor') },
];
