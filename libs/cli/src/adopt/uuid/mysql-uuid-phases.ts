import {
  firstChecks,
  keptName,
  type Numbers,
  ownName,
  type Phase,
  type Replaced,
  type UuidPhases,
} from './uuid-key.js';
import { literal, pathSql, quoted, schemaSql } from '../mysql-names.js';
import { filled, mysqlForget, mysqlSwap, structured } from './mysql-swap.js';
import { firstMysqlNumber, mysqlNumber, mysqlRoom, mysqlTriggers } from './mysql-numbers.js';
import { numbersAreGone, type ReferencedKey, uuidsAreGone } from './uuid-refusals.js';
import type { MysqlColumn, MysqlUuid } from './mysql-uuid-facts.js';

/** So many rows are updated in one transaction. */
const BATCH = 2_000;

/** The phases on MySQL and MariaDB, where each statement that changes a table's definition commits by itself. */
export function mysqlPhases(facts: MysqlUuid, numbers: readonly Numbers[], floor: bigint): UuidPhases {
  const keys = facts.keys.map((each, at) => numberedKey(facts, each, at, numbers[at]!));
  const forth = keys.flatMap((each) => each.forth);
  const back = keys.flatMap((each) => each.back);
  const tables = [...new Set(facts.columns.map(({ path }) => path))];
  const counters = new Map(keys.map(({ key, counter }) => [key.path, counter]));
  const triggers = tables.map((path) => mysqlTriggers(path, facts, forth, counters.get(path)));
  const drops = triggers.flatMap(({ drop }) => drop);
  // The swap renames one table after the other, first that of the first key. From then on a new run only goes on.
  const { isSwapped } = keys[0]!;
  const isBack = `SELECT 1 FROM DUAL WHERE NOT EXISTS (${isSwapped})`;
  const uuids = keys.map((each): Phase => {
    const { key, kept } = each;
    // After a complete revert the UUIDs are in the column of the old name.
    const isGone = `SELECT 1 FROM DUAL WHERE NOT EXISTS (${each.isSwapped}) AND EXISTS (${hasColumn(facts, key, key.column)} AND DATA_TYPE = 'bigint')`;
    return { name: `the UUIDs of ${key.table} are there`, none: isGone, says: uuidsAreGone(key.table, kept) };
  });
  const numbered = forth.map((each): Phase => ({
    name: `numbers of ${each.table}.${each.column}`,
    unless: isSwapped,
    none: `SELECT 1 FROM DUAL WHERE NOT EXISTS (${hasColumn(facts, each, each.fresh)})`,
    says: numbersAreGone(each.table, each.fresh),
  }));
  const tidy = keys.flatMap(({ map, sorted, counter }) =>
    [map, sorted, counter].map((path) => `DROP TABLE IF EXISTS ${path}`),
  );
  return {
    number: [
      ...keys.flatMap(({ key, kept, reserve, isSwapped: isDone }) =>
        firstChecks({ ...key, kept, room: mysqlRoom(key.type, reserve) }, isDone),
      ),
      ...keys.map(({ key: { table, type }, map, sorted, counter, reserve }) => ({
        name: `tables of numbers of ${table}`,
        run: [
          `CREATE TABLE IF NOT EXISTS ${map} (number bigint NOT NULL PRIMARY KEY, old_key ${type} NOT NULL UNIQUE) ENGINE=InnoDB`,
          `CREATE TABLE IF NOT EXISTS ${sorted} (number bigint NOT NULL PRIMARY KEY, old_key ${type} NOT NULL) ENGINE=InnoDB`,
          `CREATE TABLE IF NOT EXISTS ${counter} (number bigint NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB AUTO_INCREMENT=${reserve}`,
        ],
      })),
      ...tables.map((path) =>
        addColumns(
          facts,
          forth.filter((each) => each.path === path),
        ),
      ),
      ...triggers.flatMap(({ phases }) => phases),
      ...keys.flatMap(numberRows),
      ...keys.flatMap((each) => filled(facts, each.forth, batchesOf(each))),
      ...structured(facts, forth),
    ],
    forget: [
      ...uuids,
      ...keys.map(({ key, kept, isSwapped: none }) => ({
        name: `the keys of ${key.table} have been swapped back`,
        none,
        says: `${key.table} still has a column ${kept}: revert the other migration first`,
      })),
      { name: 'no more triggers', run: drops },
      ...mysqlForget(facts, forth),
      { name: 'forget the numbers', run: tidy },
    ],
    swap: [
      ...numbered,
      ...filled(facts, forth, undefined).map((each) => ({ ...each, unless: isSwapped })),
      ...checked(forth, isSwapped),
      ...keys.map(({ key, forth: [fresh] }) => ({
        name: `numbers of ${key.table} below the first ID`,
        unless: isSwapped,
        none: `SELECT 1 FROM ${key.path} WHERE ${quoted(fresh!.fresh)} >= ${floor} LIMIT 1`,
        says: `${key.table} has numbers of ${floor} and above`,
      })),
      ...mysqlSwap(facts, forth, { drops, defaultOf: ({ type }) => uuidDefault(type) }),
      { name: 'the numbers stand in the tables', run: tidy },
    ],
    back: [
      ...uuids,
      ...[
        ...tables.flatMap((path) => {
          const mine = back.filter((each) => each.path === path && each.source !== undefined);
          return mine.length > 0 ? [addColumns(facts, mine)] : [];
        }),
        ...filled(facts, back, undefined),
        ...structured(facts, back),
        ...checked(back, isBack),
      ].map((each) => ({ ...each, unless: either(isBack, each.unless ?? isBack) })),
      ...mysqlSwap(facts, back, { drops: [], defaultOf: () => 'DROP DEFAULT' }),
    ],
    begin: [
      'SET SESSION lock_wait_timeout = 5, innodb_lock_wait_timeout = 5',
      "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
      // At this level a transaction locks no rows that it only reads.
      'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    ],
    end: [
      'UNLOCK TABLES',
      'SET SESSION lock_wait_timeout = DEFAULT, innodb_lock_wait_timeout = DEFAULT, sql_mode = DEFAULT, foreign_key_checks = DEFAULT',
      'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    ],
  };
}

/** A key that gets numbers: its columns before and after, and the tables that help. */
interface NumberedKey extends Numbers {
  readonly key: MysqlColumn;
  /** The name of the column that keeps the UUIDs. */
  readonly kept: string;
  /** The table that has a number for each UUID. */
  readonly map: string;
  /** The table of the first rows in their order, from which the map is filled. */
  readonly sorted: string;
  /** The table that counts the rows which are inserted meanwhile. */
  readonly counter: string;
  /** What replaces what in the swap; the key comes first. */
  readonly forth: readonly Replaced[];
  readonly back: readonly Replaced[];
  /** SQL that finds a record when the key is a number. */
  readonly isSwapped: string;
}

/** @param at the place among the keys: without it two names that were cut off could be equal */
function numberedKey(
  facts: MysqlUuid,
  { key, columns }: ReferencedKey<MysqlColumn>,
  at: number,
  numbers: Numbers,
): NumberedKey {
  const own = (what: string): string =>
    pathSql({ schema: key.schema, table: ownName(`${at}_${key.table}`, what) }, facts.home);
  const [kept, map] = [keptName(key), own('map_')];
  const forth = columns.map((each): Replaced => ({
    path: each.path,
    table: each.table,
    column: each.column,
    isNullable: each.isNullable,
    fresh: ownName(each.column),
    type: 'bigint',
    source: { path: map, at: 'old_key', take: 'number' },
    ...(each === key && { keep: kept }),
  }));
  const back = columns.map((each): Replaced => ({
    path: each.path,
    table: each.table,
    column: each.column,
    isNullable: each.isNullable,
    type: each.type,
    ...(each === key
      ? { fresh: kept }
      : { fresh: ownName(each.column), source: { path: key.path, at: key.column, take: kept } }),
  }));
  return {
    ...numbers,
    key,
    kept,
    map,
    sorted: own('order_'),
    counter: own('next_'),
    forth,
    back,
    isSwapped: hasColumn(facts, key, kept),
  };
}

function batchesOf({ key, sorted }: NumberedKey): {
  readonly last: string;
  readonly first: bigint;
  readonly size: number;
} {
  return { last: `SELECT MAX(number) AS last FROM ${sorted}`, first: firstMysqlNumber(key.type), size: BATCH };
}

function numberRows(each: NumberedKey): Phase[] {
  const { key, map, sorted, order } = each;
  const old = quoted(key.column);
  return [
    {
      name: `order of ${key.table}`,
      unless: `SELECT 1 FROM ${sorted} LIMIT 1`,
      run: [
        `INSERT INTO ${sorted} (number, old_key) SELECT ${mysqlNumber(key.type, `ROW_NUMBER() OVER (ORDER BY ${order})`)}, t.${old} FROM ${key.path} t ` +
          `WHERE NOT EXISTS (SELECT 1 FROM ${map} m WHERE m.old_key = t.${old})`,
      ],
    },
    {
      name: `numbers of ${key.table}`,
      each: `INSERT IGNORE INTO ${map} (number, old_key) SELECT number, old_key FROM ${sorted} WHERE number >= {from} AND number < {to}`,
      ...batchesOf(each),
    },
  ];
}

function uuidDefault(type: string): string {
  if (type.startsWith('binary')) return "SET DEFAULT (UNHEX(REPLACE(UUID(), '-', '')))";
  return `SET DEFAULT (${type.includes('(32)') ? "REPLACE(UUID(), '-', '')" : 'UUID()'})`;
}

function addColumns(facts: MysqlUuid, columns: readonly Replaced[]): Phase {
  const [{ path, table }] = columns as [Replaced];
  const added = columns.map(({ fresh, type }) => `ADD COLUMN ${quoted(fresh)} ${type} NULL`);
  return {
    name: `columns of ${table}`,
    unless: hasColumn(facts, columns[0]!, columns[0]!.fresh),
    run: [`ALTER TABLE ${path} ${added.join(', ')}`],
  };
}

function either(a: string, b: string): string {
  return `SELECT 1 FROM DUAL WHERE EXISTS (${a}) OR EXISTS (${b})`;
}

function hasColumn(
  { columns, home }: MysqlUuid,
  { path, table }: Pick<Replaced, 'path' | 'table'>,
  column: string,
): string {
  const { schema } = columns.find((each) => each.path === path)!;
  return (
    `SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} ` +
    `AND TABLE_NAME = ${literal(table)} AND COLUMN_NAME = ${literal(column)}`
  );
}

/** The phases that check that every row has the number that belongs to its UUID. */
function checked(replaced: readonly Replaced[], isDone: string): Phase[] {
  return replaced.flatMap(({ path, table, column, fresh, source }): Phase[] => {
    if (source === undefined) return [];
    return [
      {
        name: `count of ${table}.${column}`,
        unless: isDone,
        none:
          `SELECT 1 FROM ${path} t LEFT JOIN ${source.path} s ON s.${quoted(source.at)} = t.${quoted(column)} ` +
          // ON DELETE SET NULL fires no trigger: the swap empties those rows.
          `WHERE t.${quoted(column)} IS NOT NULL AND (t.${quoted(fresh)} IS NULL OR NOT (t.${quoted(fresh)} <=> s.${quoted(source.take)})) LIMIT 1`,
        says: `${table}.${fresh} does not have the values that belong to ${column}, or some refer to rows that are not there: nothing was swapped`,
      },
    ];
  });
}
