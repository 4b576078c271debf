import { firstLooks } from './first-looks.js';
import { pathSql, quoted } from '../mysql-names.js';
import { filled, structured } from './mysql-prepared.js';
import { mysqlForget, mysqlSwap } from './mysql-swap.js';
import { literal, mysqlTriggers, schemaSql } from './mysql-trigger.js';
import { firstMysqlNumber, mysqlNumber, mysqlRoom } from './mysql-numbers.js';
import { numbersAreGone, uuidsAreGone } from './uuid-refusals.js';
import { ownName, type Numbers, type Phase, type Replaced, type UuidPhases } from './uuid-key.js';
import type { MysqlUuid } from './mysql-uuid-facts.js';

/** So many rows are rewritten in one transaction. */
const BATCH = 2_000;

/** The work on MySQL and MariaDB, where each statement on a table's definition commits by itself. */
export function mysqlPhases(facts: MysqlUuid, numbers: Numbers): UuidPhases {
  const { key, columns, home } = facts;
  const own = (what: string): string => pathSql({ schema: key.schema, table: ownName(key.table, what) }, home);
  const [map, order, counter] = [own(''), own('order_'), own('next_')];
  const kept = `${key.column}_uuid`;
  const forth = columns.map((each): Replaced => ({
    ...{ path: each.path, table: each.table, column: each.column, isNullable: each.isNullable },
    ...{ fresh: ownName(each.column), type: 'bigint', source: { path: map, at: 'old_key', take: 'number' } },
    ...(each === key && { keep: kept }),
  }));
  const back = columns.map((each): Replaced => ({
    ...{ path: each.path, table: each.table, column: each.column, isNullable: each.isNullable, type: each.type },
    ...(each === key
      ? { fresh: kept }
      : { fresh: ownName(each.column), source: { path: key.path, at: key.column, take: kept } }),
  }));
  const tables = [...new Set(columns.map(({ path }) => path))];
  const triggers = tables.map((path) => mysqlTriggers(path, facts, forth, { map, counter }));
  const drops = triggers.flatMap(({ drop }) => drop);
  const isSwapped = hasColumn(facts, forth[0]!, kept);
  const isBack = `SELECT 1 FROM DUAL WHERE NOT EXISTS (${isSwapped})`;
  // Reverted as far as it goes it has the UUIDs under the old name.
  const isGone = `${isBack} AND EXISTS (${hasColumn(facts, forth[0]!, key.column)} AND DATA_TYPE = 'bigint')`;
  const uuids: Phase = { name: 'the UUIDs are there', none: isGone, says: uuidsAreGone(key.table, kept) };
  const numbered = forth.map((each): Phase => ({
    ...{ name: `numbers of ${each.table}.${each.column}`, unless: isSwapped },
    none: `SELECT 1 FROM DUAL WHERE NOT EXISTS (${hasColumn(facts, each, each.fresh)})`,
    says: numbersAreGone(each.table, each.fresh),
  }));
  const old = quoted(key.column);
  const batches = { last: `SELECT MAX(number) AS last FROM ${order}`, first: firstMysqlNumber(key.type), size: BATCH };
  const tidy = [map, order, counter].map((path) => `DROP TABLE IF EXISTS ${path}`);
  return {
    number: [
      ...firstLooks({ ...key, kept, room: mysqlRoom(key.type, numbers.reserve) }, isSwapped),
      {
        name: 'tables of numbers',
        run: [
          `CREATE TABLE IF NOT EXISTS ${map} (number bigint NOT NULL PRIMARY KEY, old_key ${key.type} NOT NULL UNIQUE) ENGINE=InnoDB`,
          `CREATE TABLE IF NOT EXISTS ${order} (number bigint NOT NULL PRIMARY KEY, old_key ${key.type} NOT NULL) ENGINE=InnoDB`,
          `CREATE TABLE IF NOT EXISTS ${counter} (number bigint NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB AUTO_INCREMENT=${numbers.reserve}`,
        ],
      },
      ...tables.map((path) =>
        addColumns(
          facts,
          forth.filter((each) => each.path === path),
        ),
      ),
      ...triggers.flatMap(({ phases }) => phases),
      {
        name: `order of ${key.table}`,
        unless: `SELECT 1 FROM ${order} LIMIT 1`,
        run: [
          `INSERT INTO ${order} (number, old_key) SELECT ${mysqlNumber(key.type, `ROW_NUMBER() OVER (ORDER BY ${numbers.order})`)}, t.${old} FROM ${key.path} t ` +
            `WHERE NOT EXISTS (SELECT 1 FROM ${map} m WHERE m.old_key = t.${old})`,
        ],
      },
      {
        name: `numbers of ${key.table}`,
        each: `INSERT IGNORE INTO ${map} (number, old_key) SELECT number, old_key FROM ${order} WHERE number >= {from} AND number < {to}`,
        ...batches,
      },
      ...filled(facts, forth, batches),
      ...structured(facts, forth),
    ],
    forget: [
      uuids,
      {
        name: 'the keys have been swapped back',
        none: isSwapped,
        says: `${key.table} still has a column ${kept}: revert the other migration first`,
      },
      { name: 'no more triggers', run: drops },
      ...mysqlForget(facts, forth),
      { name: 'forget the numbers', run: tidy },
    ],
    swap: [
      ...numbered,
      ...filled(facts, forth, undefined).map((each) => ({ ...each, unless: isSwapped })),
      ...checked(forth, isSwapped),
      {
        name: 'numbers below the first ID',
        unless: isSwapped,
        none: `SELECT 1 FROM ${key.path} WHERE ${quoted(forth[0]!.fresh)} >= ${numbers.floor} LIMIT 1`,
        says: `${key.table} has numbers of ${numbers.floor} and above`,
      },
      ...mysqlSwap(facts, forth, { drops, default: key.fallback === null ? uuidDefault(key.type) : undefined }),
      { name: 'the numbers stand in the table', run: tidy },
    ],
    back: [
      uuids,
      ...[
        ...tables.flatMap((path) => {
          const mine = back.filter((each) => each.path === path && each.source !== undefined);
          return mine.length > 0 ? [addColumns(facts, mine)] : [];
        }),
        ...filled(facts, back, undefined),
        ...structured(facts, back),
        ...checked(back, isBack),
      ].map((each) => ({ ...each, unless: either(isBack, each.unless ?? isBack) })),
      ...mysqlSwap(facts, back, { drops: [], default: key.fallback === null ? 'DROP DEFAULT' : undefined }),
    ],
    begin: [
      'SET SESSION lock_wait_timeout = 5, innodb_lock_wait_timeout = 5',
      "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')",
      // Neither does it keep others out of what it only reads.
      'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    ],
    end: [
      'UNLOCK TABLES',
      'SET SESSION lock_wait_timeout = DEFAULT, innodb_lock_wait_timeout = DEFAULT, sql_mode = DEFAULT, foreign_key_checks = DEFAULT',
      'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    ],
  };
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

function hasColumn({ columns, home }: MysqlUuid, { path, table }: Replaced, column: string): string {
  const { schema } = columns.find((each) => each.path === path)!;
  return (
    `SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} ` +
    `AND TABLE_NAME = ${literal(table)} AND COLUMN_NAME = ${literal(column)}`
  );
}

/** Every row has the value that belongs to its old one. */
function checked(replaced: readonly Replaced[], isDone: string): Phase[] {
  return replaced.flatMap(({ path, table, column, fresh, source }): Phase[] => {
    if (source === undefined) return [];
    return [
      {
        name: `count of ${table}.${column}`,
        unless: isDone,
        none:
          `SELECT 1 FROM ${path} t LEFT JOIN ${source.path} s ON s.${quoted(source.at)} = t.${quoted(column)} ` +
          // What ON DELETE SET NULL has done is told to no trigger: the swap does it.
          `WHERE t.${quoted(column)} IS NOT NULL AND (t.${quoted(fresh)} IS NULL OR NOT (t.${quoted(fresh)} <=> s.${quoted(source.take)})) LIMIT 1`,
        says: `${table}.${fresh} does not have the values that belong to ${column}, or some refer to rows that are not there: nothing was swapped`,
      },
    ];
  });
}
