import { quoted } from '../mysql-names.js';
import { freshIndex, indexSql, primaryKey } from './mysql-indexes.js';
import { literal, schemaSql } from './mysql-trigger.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';
import type { MysqlUuid } from './mysql-uuid-facts.js';

/**
 * Fills the new columns.
 * @param batches of numbers; without them each column is filled at once
 */
export function filled(
  facts: MysqlUuid,
  replaced: readonly Replaced[],
  batches: Pick<Phase, 'last' | 'first' | 'size'> | undefined,
): Phase[] {
  const { touched } = facts;
  return replaced.flatMap((each): Phase[] => {
    const { path, table, column, fresh, source } = each;
    if (source === undefined) return [];
    const [now, old] = [`t.${quoted(fresh)}`, `t.${quoted(column)}`];
    const kept = (touched.get(path) ?? []).map((each) => `, t.${quoted(each)} = t.${quoted(each)}`).join('');
    const finder = batches === undefined ? undefined : finderOf(facts, each);
    const value = `s.${quoted(source.take)}`;
    const set = `SET ${now} = ${value}${kept} WHERE ${now} IS NULL`;
    const on = `s.${quoted(source.at)} = ${old}`;
    return [
      ...(finder === undefined
        ? []
        : [
            {
              name: `index ${finder}`,
              unless: hasIndex(facts, each, finder),
              run: [`ALTER TABLE ${path} ADD INDEX ${quoted(finder)} (${quoted(column)})`],
            },
          ]),
      {
        name: `rows of ${table}.${column}`,
        ...(batches !== undefined && {
          ...batches,
          each: `UPDATE ${source.path} s STRAIGHT_JOIN ${path} t ON ${on} ${set} AND ${value} >= {from} AND ${value} < {to}`,
        }),
        run: [`UPDATE ${path} t JOIN ${source.path} s ON ${on} ${set}`],
      },
      ...(finder === undefined ? [] : [dropIndex(facts, each, finder)]),
    ];
  });
}

/**
 * The index that finds the rows that refer to a row, where the table has none. A foreign key over several columns has no
 * index that begins with its second one: each batch would read the whole table for each of its numbers.
 */
export function finderOf({ indexes }: MysqlUuid, { path, column }: Replaced): string | undefined {
  const isFound = indexes.some((index) => index.path === path && index.parts[0]?.column === column);
  return isFound ? undefined : ownName(column, 'find_');
}

export function dropIndex(facts: MysqlUuid, place: Replaced, name: string): Phase {
  return {
    name: `no index ${name}`,
    unless: `SELECT 1 FROM DUAL WHERE NOT EXISTS (${hasIndex(facts, place, name)})`,
    run: [`ALTER TABLE ${place.path} DROP INDEX ${quoted(name)}`],
  };
}

export function hasIndex({ columns, home }: MysqlUuid, { path, table }: Replaced, name: string): string {
  const { schema } = columns.find((each) => each.path === path)!;
  return (
    `SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} AND TABLE_NAME = ` +
    `${literal(table)} AND INDEX_NAME = ${literal(name)}`
  );
}

/** Gives the new columns what the old ones have: NOT NULL, indexes, the primary key. One statement for each table. */
export function structured(facts: MysqlUuid, replaced: readonly Replaced[]): Phase[] {
  const { columns, indexes, home } = facts;
  return [...new Set(replaced.map(({ path }) => path))].flatMap((path) => {
    const mine = replaced.filter((each) => each.path === path);
    const { table } = mine[0]!;
    const { schema } = columns.find((each) => each.path === path)!;
    const kept = mine.find(({ keep }) => keep !== undefined);
    const made = indexes.flatMap((index, at) => {
      if (index.path !== path) return [];
      if (index.name !== 'PRIMARY') return [`ADD ${indexSql(index, freshIndex(index, at), mine)}`];
      // Foreign keys go on using the old columns.
      return ['DROP PRIMARY KEY', `ADD ${primaryKey(index, mine)}`, `ADD ${indexSql(index, OLD_PRIMARY, [])}`];
    });
    const [index] = indexes.filter((each) => each.path === path);
    const at = indexes.indexOf(index!);
    const isPrimary = index!.name === 'PRIMARY';
    const fresh = mine.find((each) => index!.parts.some(({ column }) => column === each.column))!;
    const isDone =
      `SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} AND TABLE_NAME = ` +
      `${literal(table)} AND INDEX_NAME = ${literal(isPrimary ? 'PRIMARY' : freshIndex(index!, at))} AND COLUMN_NAME = ${literal(fresh.fresh)}`;
    const clauses = [
      ...mine
        .filter(({ isNullable }) => !isNullable)
        .map(({ fresh: name, type }) => `MODIFY ${quoted(name)} ${type} NOT NULL`),
      ...made,
      ...(kept === undefined ? [] : [`ADD UNIQUE INDEX ${quoted(ownName(table, 'uuid_'))} (${quoted(kept.column)})`]),
    ];
    return [
      { name: `keys and indexes of ${table}`, unless: isDone, run: [`ALTER TABLE ${path} ${clauses.join(', ')}`] },
    ];
  });
}

/** The old primary key, as an index, until the swap. */
export const OLD_PRIMARY = 'raindrop_old_primary';
