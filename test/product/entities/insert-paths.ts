import { Like } from 'typeorm';
import { pathsOf, rows } from './entity-path.js';
import { plainEntities } from './plain-entities.js';
import type { Id } from './property-form.js';

interface Titled {
  id?: Id;
  title: string;
}

const titled = (count: number): Titled[] => Array.from({ length: count }, (_, index) => ({ title: `row ${index}` }));

/** `insert`, `upsert` and QueryBuilder, and who runs them. */
export const insertPaths = pathsOf(plainEntities, {
  '`insert` of one and of many': async ({ manager, statements, entities: { Note } }) => {
    const [one, ...many] = titled(4);
    const single = await manager.insert(Note, one!);
    const several = await manager.getRepository(Note).insert(many);
    expect([...single.identifiers, ...several.identifiers]).toEqual([one!, ...many].map(({ id }) => ({ id })));
    expect(statements.count('INSERT')).toBe(2);
    return [rows(Note, [one!, ...many])];
  },
  '`insert().values()` of a QueryBuilder': async ({ dataSource, entities: { Note } }) => {
    const values = titled(3);
    await dataSource.createQueryBuilder().insert().into(Note).values(values[0]!).execute();
    await dataSource.createQueryBuilder().insert().into(Note, ['id', 'title']).values(values.slice(1)).execute();
    return [rows(Note, values)];
  },
  '`orIgnore()`': async ({ dataSource, manager, statements, entities: { Tag } }) => {
    const insert = (uses: number): Promise<unknown> =>
      dataSource.createQueryBuilder().insert().into(Tag).values({ name: 'ignore', uses }).orIgnore().execute();
    await statements.only(() => insert(1));
    await insert(2);
    const tags = await manager.findBy(Tag, { name: 'ignore' });
    expect(tags).toMatchObject([{ uses: 1 }]);
    return [rows(Tag, tags)];
  },
  '`upsert` of new rows and of existing ones': async ({ manager, statements, entities: { Tag } }) => {
    const upsert = (...tags: { name: string; uses: number }[]): Promise<unknown> =>
      statements.only(() => manager.upsert(Tag, tags, ['name']));
    await upsert({ name: 'upsert', uses: 1 });
    const first = await manager.findOneByOrFail(Tag, { name: 'upsert' });
    await upsert({ name: 'upsert', uses: 2 }, { name: 'upsert too', uses: 3 });
    const tags = await manager.find(Tag, { where: { name: Like('upsert%') }, order: { name: 'ASC' } });
    expect(tags).toEqual([
      { ...first, uses: 2 },
      { id: tags[1]!.id, name: 'upsert too', uses: 3 },
    ]);
    return [rows(Tag, tags)];
  },
  '`upsert` by the ID': async ({ manager, statements, entities: { Tag } }) => {
    const tag = await manager.save(Tag, { name: 'by id', uses: 1 });
    await statements.only(() => manager.upsert(Tag, { ...tag, uses: 2 }, ['id']));
    expect(await manager.findBy(Tag, { name: 'by id' })).toEqual([{ ...tag, uses: 2 }]);
    return [rows(Tag, [tag])];
  },
  'a transaction, committed': async ({ dataSource, entities: { Note } }) => {
    const [inserted] = titled(1);
    const saved = await dataSource.transaction(async (manager) => {
      await manager.insert(Note, inserted!);
      return manager.transaction((nested) => nested.save(Note, {}));
    });
    return [rows(Note, [inserted!, saved])];
  },
  'a transaction, rolled back': async ({ dataSource, form, entities: { Note } }) => {
    const saved = titled(2);
    const failure = dataSource.transaction(async (manager) => {
      await manager.save(Note, saved);
      throw new Error('rolled back');
    });
    await expect(failure).rejects.toThrow('rolled back');
    expect(saved.filter(({ id }) => !form.isForm(id))).toEqual([]);
    return [];
  },
  'a query runner of its own': async ({ dataSource, entities: { Note } }) => {
    const runner = dataSource.createQueryRunner();
    const [inserted, lost] = titled(2);
    try {
      await runner.manager.insert(Note, inserted!);
      await runner.startTransaction();
      const saved = await runner.manager.save(Note, {});
      await runner.commitTransaction();
      await runner.startTransaction();
      await runner.manager.createQueryBuilder().insert().into(Note).values(lost!).execute();
      await runner.rollbackTransaction();
      return [rows(Note, [inserted!, saved])];
    } finally {
      await runner.release();
    }
  },
});

/** Last of all: every path after them would read their rows. */
export const bulkPaths = pathsOf(plainEntities, {
  '`insert` of 1,000 in one statement': async ({ manager, statements, entities: { Note } }) => {
    const many = titled(1_000);
    const { identifiers } = await manager.insert(Note, many);
    expect(statements.count('INSERT')).toBe(1);
    expect(identifiers).toEqual(many.map(({ id }) => ({ id })));
    return [rows(Note, many)];
  },
  '`save` of 1,100 in one go': async ({ manager, entities: { Label } }) => [
    rows(
      Label,
      await manager.save(
        Label,
        Array.from({ length: 1_100 }, () => ({ text: 'many' })),
      ),
    ),
  ],
  '`whereInIds` of 1,100': async ({ manager, entities: { Label } }) => {
    const labels = Array.from({ length: 1_100 }, () => ({ text: 'deleted' })) as { id: Id; text: string }[];
    await manager.insert(Label, labels);
    const ids = labels.slice(1).map(({ id }) => id);
    expect(await manager.createQueryBuilder(Label, 'label').whereInIds(ids).getCount()).toBe(1_099);
    await manager.createQueryBuilder().delete().from(Label).whereInIds(ids).execute();
    return [rows(Label, labels.slice(0, 1))];
  },
});
