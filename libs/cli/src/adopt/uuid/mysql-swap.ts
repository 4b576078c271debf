import { addForeignKey, literal, pathSql, quoted, schemaSql } from '../mysql-names.js';
import { freshIndex, indexSql, type MysqlColumn, type MysqlUuid, primaryKey } from './mysql-uuid-facts.js';
import { ownName, type Phase, type Replaced } from './uuid-key.js';

/**
 * The phases that fill the new columns.
 * @param batches the batches of numbers; without them each column is filled by one statement
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
 * The name of an index that finds the rows referring to a row, where the table has none. A foreign key over several
 * columns has no index that begins with its second column: each batch would read the whole table for each of its
 * numbers.
 */
function finderOf({ indexes }: MysqlUuid, { path, column }: Replaced): string | undefined {
  const isFound = indexes.some((index) => index.path === path && index.parts[0]?.column === column);
  return isFound ? undefined : ownName(column, 'find_');
}

function dropIndex(facts: MysqlUuid, place: Replaced, name: string): Phase {
  return {
    name: `no index ${name}`,
    unless: `SELECT 1 FROM DUAL WHERE NOT EXISTS (${hasIndex(facts, place, name)})`,
    run: [`ALTER TABLE ${place.path} DROP INDEX ${quoted(name)}`],
  };
}

function hasIndex({ columns, home }: MysqlUuid, { path, table }: Replaced, name: string): string {
  const { schema } = columns.find((each) => each.path === path)!;
  return (
    `SELECT 1 FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ${schemaSql(schema, home)} AND TABLE_NAME = ` +
    `${literal(table)} AND INDEX_NAME = ${literal(name)}`
  );
}

/**
 * The phases that give the new columns NOT NULL, indexes and the primary key, as the old ones have. One statement a
 * table.
 */
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
      // Until the swap the foreign keys use the old columns.
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

/** The name of the index that replaces the old primary key until the swap. */
const OLD_PRIMARY = 'raindrop_old_primary';

interface SwapOptions {
  /** Statements that drop what is in the way. */
  readonly drops: readonly string[];
  /** `SET DEFAULT ...` of the column that is kept, or of the one that comes back, for a key that had none. */
  readonly defaultOf: (key: MysqlColumn) => string;
}

/**
 * The phases that give the new columns the names of the old ones. All tables are locked meanwhile. After an error in
 * the middle the next run goes on from there.
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

/** Empties the new columns of rows that ON DELETE SET NULL has emptied: it fires no trigger. */
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
  // Once the columns have their final names, the foreign keys are the new ones.
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

/** The phases that drop the new columns, and everything that was made for them. */
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
              // MariaDB drops it along with the column, when another program, such as synchronize: true, drops that.
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
