import { addForeignKey } from '../mysql-foreign-keys.js';
import { pathSql, quoted } from '../mysql-names.js';
import { freshIndex, primaryKey } from './mysql-indexes.js';
import { dropIndex, finderOf, hasIndex, OLD_PRIMARY } from './mysql-prepared.js';
import { literal, schemaSql } from './mysql-trigger.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';
import type { MysqlColumn, MysqlUuid } from './mysql-uuid-facts.js';

interface SwapOptions {
  /** What has to go first. */
  readonly drops: readonly string[];
  /** `SET DEFAULT ...` of the column that is kept, or of the one that comes back, for a key that had none. */
  readonly defaultOf: (key: MysqlColumn) => string;
}

/**
 * Gives the new columns the names of the old ones. All tables are locked meanwhile; should it end in the middle, it goes
 * on there when it is run again.
 */
export function mysqlSwap(facts: MysqlUuid, replaced: readonly Replaced[], options: SwapOptions): Phase[] {
  const { foreignKeys, home } = facts;
  const tables = [...new Set(replaced.map(({ path }) => path))];
  const of = (path: string): Replaced[] => replaced.filter((each) => each.path === path);
  const others = foreignKeys.map(({ target }) => pathSql(target, home)).filter((path) => !tables.includes(path));
  const locked = [...tables.map((path) => `${path} WRITE`), ...[...new Set(others)].map((path) => `${path} WRITE`)];
  return [
    { name: 'lock', run: ['SET SESSION foreign_key_checks = 0', `LOCK TABLES ${locked.join(', ')}`] },
    { name: 'no more triggers', run: options.drops },
    ...replaced.flatMap((each) => emptied(facts, each)),
    ...tables.flatMap((path) => dropForeignKeys(facts, of(path))),
    ...tables.map((path) => renamed(facts, of(path))),
    ...facts.keys.flatMap(({ key }) => defaulted(key, replaced, options)),
    ...foreignKeys.map((each) => ({
      name: `foreign key ${each.name}`,
      unless: foreignKeyIn(facts, each.schema, each.table, [each.name]),
      run: [addForeignKey(each, home)],
    })),
    { name: 'unlock', run: ['UNLOCK TABLES', 'SET SESSION foreign_key_checks = 1'] },
  ];
}

function defaulted(key: MysqlColumn, replaced: readonly Replaced[], { defaultOf }: SwapOptions): Phase[] {
  if (key.fallback !== null) return [];
  const kept = replaced.find(({ path, keep }) => path === key.path && keep !== undefined)?.keep ?? key.column;
  return [
    {
      name: `default of ${key.table}.${kept}`,
      run: [`ALTER TABLE ${key.path} ALTER COLUMN ${quoted(kept)} ${defaultOf(key)}`],
    },
  ];
}

/** What ON DELETE SET NULL has emptied, of which no trigger was told. */
function emptied(facts: MysqlUuid, each: Replaced): Phase[] {
  const { path, table, column, fresh, isNullable, source } = each;
  if (!isNullable || source === undefined) return [];
  const kept = (facts.touched.get(path) ?? []).map((name) => `, ${quoted(name)} = ${quoted(name)}`).join('');
  return [
    {
      name: `empty ${table}.${column}`,
      unless: isMissing(facts, each, fresh),
      run: [
        `UPDATE ${path} SET ${quoted(fresh)} = NULL${kept} WHERE ${quoted(column)} IS NULL AND ${quoted(fresh)} IS NOT NULL`,
      ],
    },
  ];
}

function foreignKeyIn({ home }: MysqlUuid, schema: string, table: string, names: readonly string[]): string {
  return (
    `SELECT 1 FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} AND TABLE_NAME = ` +
    `${literal(table)} AND CONSTRAINT_TYPE = 'FOREIGN KEY' AND CONSTRAINT_NAME IN (${names.map(literal).join(', ')})`
  );
}

function isMissing({ columns, home }: MysqlUuid, { path, table }: Replaced, column: string): string {
  const { schema } = columns.find((each) => each.path === path)!;
  return (
    'SELECT 1 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ' +
    `${schemaSql(schema, home)} AND TABLE_NAME = ${literal(table)} AND COLUMN_NAME = ${literal(column)})`
  );
}

function dropForeignKeys(facts: MysqlUuid, mine: readonly Replaced[]): Phase[] {
  const [{ path, table }] = mine as [Replaced];
  const { schema } = facts.columns.find((each) => each.path === path)!;
  const names = facts.foreignKeys
    .filter((each) => each.schema === schema && each.table === table)
    .map(({ name }) => name);
  if (names.length === 0) return [];
  // When the columns have their names, the foreign keys are those that were made anew.
  const isDone = `${isMissing(facts, mine[0]!, mine[0]!.fresh)} OR NOT EXISTS (${foreignKeyIn(facts, schema, table, names)})`;
  const drops = names.map((name) => `DROP FOREIGN KEY ${quoted(name)}`);
  return [{ name: `no foreign keys of ${table}`, unless: isDone, run: [`ALTER TABLE ${path} ${drops.join(', ')}`] }];
}

function renamed(facts: MysqlUuid, mine: readonly Replaced[]): Phase {
  const [{ path, table }] = mine as [Replaced];
  const isBack = mine.some(({ source }) => source === undefined);
  const indexes = facts.indexes.flatMap((index, at) => {
    if (index.path !== path) return [];
    if (index.name === 'PRIMARY') return [`DROP INDEX ${quoted(OLD_PRIMARY)}`];
    return [
      `DROP INDEX ${quoted(index.name)}`,
      `RENAME INDEX ${quoted(freshIndex(index, at))} TO ${quoted(index.name)}`,
    ];
  });
  const columns = mine.flatMap(({ column, fresh, keep }) => [
    keep === undefined ? `DROP COLUMN ${quoted(column)}` : `RENAME COLUMN ${quoted(column)} TO ${quoted(keep)}`,
    `RENAME COLUMN ${quoted(fresh)} TO ${quoted(column)}`,
  ]);
  const kept = isBack ? [`DROP INDEX ${quoted(ownName(table, 'uuid_'))}`] : [];
  return {
    name: `names of ${table}`,
    unless: isMissing(facts, mine[0]!, mine[0]!.fresh),
    run: [`ALTER TABLE ${path} ${[...indexes, ...kept, ...columns].join(', ')}`],
  };
}

/** Takes back the new columns, and what was made of them. */
export function mysqlForget(facts: MysqlUuid, replaced: readonly Replaced[]): Phase[] {
  return [...new Set(replaced.map(({ path }) => path))].flatMap((path) => {
    const mine = replaced.filter((each) => each.path === path);
    const { table } = mine[0]!;
    const old = facts.indexes.filter((each) => each.path === path);
    const primary = old.find(({ name }) => name === 'PRIMARY');
    const kept = mine.some(({ keep }) => keep !== undefined) ? [ownName(table, 'uuid_')] : [];
    const names = [
      ...old.filter((each) => each !== primary).map((each) => freshIndex(each, facts.indexes.indexOf(each))),
      ...kept,
      ...mine.flatMap((each) => finderOf(facts, each) ?? []),
    ];
    const columns = mine.map(({ fresh }) => `DROP COLUMN ${quoted(fresh)}`);
    return [
      ...(primary === undefined
        ? []
        : [
            {
              // MariaDB dropped it with the column, when another program, such as synchronize: true, has dropped that.
              name: `primary key of ${table} as before`,
              unless: hasIndex(facts, mine[0]!, 'PRIMARY'),
              run: [`ALTER TABLE ${path} ADD ${primaryKey(primary, [])}`],
            },
            {
              name: `primary key of ${table}`,
              unless: `SELECT 1 FROM DUAL WHERE NOT EXISTS (${hasIndex(facts, mine[0]!, OLD_PRIMARY)})`,
              run: [
                `ALTER TABLE ${path} DROP PRIMARY KEY, ADD ${primaryKey(primary, [])}, DROP INDEX ${quoted(OLD_PRIMARY)}`,
              ],
            },
          ]),
      ...names.map((name) => dropIndex(facts, mine[0]!, name)),
      {
        name: `${table} as it was`,
        unless: isMissing(facts, mine[0]!, mine[0]!.fresh),
        run: [`ALTER TABLE ${path} ${columns.join(', ')}`],
      },
    ];
  });
}
