import { namedTwice, refersToTwoKeys } from './uuid-refusals.js';

/** A key whose rows get numbers, and the columns that have its values. */
export interface ReferencedKey<Column> {
  readonly key: Column;
  /** The key, the columns that refer to it, those that refer to these, and so on. */
  readonly columns: readonly Column[];
}

interface Place {
  /** Its table, as SQL names it. */
  readonly path: string;
  readonly table: string;
  readonly column: string;
}

/**
 * Finds the keys that get numbers of their own among those that were named, and what refers to each. A named key that
 * refers to another named one has the values of that: it is among its columns, and gets its numbers. Where two keys refer
 * to each other, the one that was named first gets the numbers.
 * @param referring the columns of which a foreign key names this one
 * @throws InputError for a table that was named twice; CommandFailedError for a column that would need two numbers
 */
export async function referencedKeys<Column extends Place>(
  named: readonly Column[],
  referring: (target: Column) => Promise<readonly Column[]>,
): Promise<ReferencedKey<Column>[]> {
  const found: ReferencedKey<Column>[] = [];
  for (const [at, key] of named.entries()) {
    if (named.findIndex(({ path }) => path === key.path) !== at) throw namedTwice(key.table);
    const columns = [key];
    for (const target of columns) {
      for (const each of await referring(target)) if (!isAmong(columns, each)) columns.push(each);
    }
    found.push({ key, columns });
  }
  const own = found.filter(
    ({ key, columns }, at) =>
      !found.some((other, before) => {
        const isFollowing = other.key !== key && isAmong(other.columns, key);
        return isFollowing && (before < at || !isAmong(columns, other.key));
      }),
  );
  for (const [at, { key, columns }] of own.entries()) {
    for (const other of own.slice(at + 1)) {
      const both = columns.find((each) => isAmong(other.columns, each));
      if (both !== undefined) throw refersToTwoKeys(placeOf(both), placeOf(key), placeOf(other.key));
    }
  }
  return own;
}

/** @returns true where the column is one of these */
export function isAmong(columns: readonly Place[], { path, column }: Pick<Place, 'path' | 'column'>): boolean {
  return columns.some((one) => one.path === path && one.column === column);
}

function placeOf({ table, column }: Place): string {
  return `${table}.${column}`;
}
