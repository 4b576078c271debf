import { referencedKeys } from './uuid-refusals.js';

interface Place {
  readonly path: string;
  readonly table: string;
  readonly column: string;
}

function place(name: string): Place {
  const [table, column] = name.split('.') as [string, string];
  return { path: table, table, column };
}

const nameOf = ({ table, column }: Place): string => `${table}.${column}`;

/** @param links `child -> parent` */
async function found(named: readonly string[], links: readonly string[]): Promise<Record<string, string[]>> {
  const pairs = links.map((each) => each.split(' -> ') as [string, string]);
  const keys = await referencedKeys(named.map(place), (target) =>
    Promise.resolve(pairs.filter(([, parent]) => parent === nameOf(target)).map(([child]) => place(child))),
  );
  return Object.fromEntries(keys.map(({ key, columns }) => [nameOf(key), columns.slice(1).map(nameOf)]));
}

describe('keys that get numbers, and what refers to them', () => {
  it('follows references to references, of themselves and in circles', async () => {
    const links = ['a.up -> a.id', 'b.a_id -> a.id', 'a.b_id -> b.id', 'c.n -> b.a_id'];
    expect(await found(['a.id', 'b.id'], links)).toEqual({ 'a.id': ['a.up', 'b.a_id', 'c.n'], 'b.id': ['a.b_id'] });
  });

  it.each([
    [
      ['a.id', 'b.id', 'c.id'],
      ['b.id', 'c.id'],
    ],
    [
      ['c.id', 'b.id', 'a.id'],
      ['b.id', 'c.id'],
    ],
  ])('gives the numbers of another to a key that refers to it: %s', async (named, columns) => {
    expect(await found(named, ['b.id -> a.id', 'c.id -> b.id'])).toEqual({ 'a.id': columns });
  });

  it('numbers the first of keys that refer to each other', async () => {
    const links = ['a.id -> b.id', 'b.id -> c.id', 'c.id -> a.id'];
    expect(await found(['b.id', 'c.id', 'a.id'], links)).toEqual({ 'b.id': ['a.id', 'c.id'] });
  });

  it('takes a column that refers to two keys of which one refers to the other', async () => {
    const links = ['b.id -> a.id', 'c.n -> a.id', 'c.n -> b.id'];
    expect(await found(['a.id', 'b.id'], links)).toEqual({ 'a.id': ['b.id', 'c.n'] });
  });

  it('refuses a column that would need two numbers, and a table that is named twice', async () => {
    await expect(found(['a.id', 'b.id'], ['c.n -> a.id', 'd.n -> c.n', 'd.n -> b.id'])).rejects.toThrow(
      'd.n refers to a.id and to b.id, whose rows get numbers of their own',
    );
    await expect(found(['a.id', 'b.id', 'a.uuid'], [])).rejects.toThrow('--table names a twice');
  });
});
