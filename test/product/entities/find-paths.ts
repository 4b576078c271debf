import {
  Between,
  Equal,
  In,
  IsNull,
  LessThan,
  LessThanOrEqual,
  MoreThan,
  MoreThanOrEqual,
  Not,
  Or,
  type FindOperator,
} from 'typeorm';
import { pathsOf, rows, type PathSetting } from './entity-path.js';
import { plainEntities } from './plain-entities.js';
import type { Id } from './property-form.js';

type Plain = ReturnType<typeof plainEntities.build>;
type Condition = Id | FindOperator<string>;

/** Titles of three notes `a`, `b`, `c`, saved in this order, that a condition on the ID of `b` finds. */
async function found(
  { manager, statements, entities: { Note } }: PathSetting<Plain>,
  conditions: Readonly<Record<string, readonly [(b: never) => Condition, string]>>,
) {
  const notes = await manager.save(Note, [{ title: 'a' }, { title: 'b' }, { title: 'c' }]);
  const mine = new Set(notes.map(({ id }) => id));
  const seen: Record<string, string> = {};
  for (const [name, [condition]] of Object.entries(conditions)) {
    const where = [{ id: condition(notes[1]!.id as never) as never }];
    const all = await statements.only(() => manager.find(Note, { where, order: { id: 'ASC' } }));
    seen[name] = all.flatMap(({ id, title }) => (mine.has(id) ? [title] : [])).join('');
  }
  expect(seen).toEqual(Object.fromEntries(Object.entries(conditions).map(([name, [, titles]]) => [name, titles])));
  return [rows(Note, notes)];
}

/** Finding rows of one table by their IDs. */
export const findPaths = pathsOf(plainEntities, {
  'by the ID, `In`, `Not`, `Or`, `IsNull`': (setting) =>
    found(setting, {
      plain: [(id) => id, 'b'],
      Equal: [(id) => Equal(id), 'b'],
      In: [(id) => In([id, setting.form.fromDigits('1')] as never[]), 'b'],
      'In of nothing': [() => In([]), ''],
      Not: [(id) => Not(id), 'ac'],
      'Not(In)': [(id) => Not(In([id])), 'ac'],
      Or: [(id) => Or(Equal(id), IsNull()), 'b'],
      IsNull: [() => IsNull(), ''],
      'Not(IsNull)': [() => Not(IsNull()), 'abc'],
    }),
  'ranges: `Between`, `MoreThan`, `LessThan`, ordered by ID': (setting) =>
    found(setting, {
      Between: [(id) => Between(id, id), 'b'],
      MoreThan: [(id) => MoreThan(id), 'c'],
      MoreThanOrEqual: [(id) => MoreThanOrEqual(id), 'bc'],
      LessThan: [(id) => LessThan(id), 'a'],
      LessThanOrEqual: [(id) => LessThanOrEqual(id), 'ab'],
      Or: [(id) => Or(LessThan(id), MoreThan(id)), 'ac'],
    }),
  'QueryBuilder: `where({ id })`, `whereInIds`, raw results': async ({ manager, form, entities: { Note } }) => {
    const notes = await manager.save(Note, [{}, {}, {}]);
    const [first] = notes;
    const notesBy = () => manager.createQueryBuilder(Note, 'note');
    expect((await notesBy().where({ id: first!.id }).getOneOrFail()).id).toBe(first!.id);
    expect(
      await notesBy()
        .where({ id: In(notes.map(({ id }) => id)) })
        .getCount(),
    ).toBe(3);
    expect(
      await notesBy()
        .whereInIds(notes.slice(1).map(({ id }) => id))
        .getCount(),
    ).toBe(2);
    const raw = await notesBy().select('note.id', 'id').whereInIds(notes).orderBy('note.id').getRawMany<{ id: Id }>();
    // What no entity is made of stays as the driver gave it, but exact.
    expect(raw.map(({ id }) => String(id))).toEqual(notes.map(({ id }) => form.digits(id)));
    return [rows(Note, notes)];
  },
  'QueryBuilder: conditions written as SQL': async ({ manager, entities: { Note } }) => {
    const notes = await manager.save(Note, [{}, {}, {}]);
    const [first, second, third] = notes.map(({ id }) => id);
    const counts = async (condition: string, parameters: object): Promise<number> =>
      manager.createQueryBuilder(Note, 'note').where(condition, parameters).getCount();
    expect(await counts('note.id = :id', { id: first })).toBe(1);
    expect(await counts('note.id IN (:...ids)', { ids: [first, third] })).toBe(2);
    expect(await counts('note.id BETWEEN :from AND :to', { from: second, to: third })).toBe(2);
    await manager.createQueryBuilder().update(Note).set({ title: 'x' }).where('id = :id', { id: second }).execute();
    expect(await counts('note.title = :title AND note.id >= :id', { title: 'x', id: second })).toBe(1);
    return [rows(Note, notes)];
  },
  '`findAndCount` with skip and take, `exists`, `count`': async ({ manager, entities: { Note } }) => {
    const notes = await manager.save(Note, [{ title: 'page' }, { title: 'page' }, { title: 'page' }]);
    const where = { id: In(notes.map(({ id }) => id)) };
    const [page, total] = await manager.findAndCount(Note, { where, order: { id: 'DESC' }, skip: 1, take: 1 });
    expect([page.map(({ id }) => id), total]).toEqual([[notes[1]!.id], 3]);
    expect(await manager.existsBy(Note, { id: notes[2]!.id })).toBe(true);
    expect(await manager.countBy(Note, where)).toBe(3);
    return [rows(Note, notes)];
  },
});
