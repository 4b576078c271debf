import { callOf, type IdFunction, isCallOf, looksIssued } from './database-default.js';
import type { Dialect, Family } from './dialect.js';

/** What gives a column a value when an insert leaves it out. */
export interface ColumnFiller {
  /** `rowid`: SQLite's `integer primary key` is the number of the row. */
  readonly kind: 'auto_increment' | 'identity' | 'default' | 'rowid' | 'trigger';
  /** The column's type with `auto_increment`, the expression of a default, the name of a trigger. */
  readonly detail: string;
  /** Whether the database counts the values. */
  readonly isCounter: boolean;
}

/** A column of a table, and the table's schema if the statement shall name it. */
export interface FilledColumn {
  readonly schema?: string | undefined;
  readonly table: string;
  readonly column: string;
}

/**
 * SQL that tells what fills a column, as text or NULL, for a SELECT from the catalogue. The column's row has the alias `a`
 * in PostgreSQL's `pg_attribute` and `c` in MySQL's `information_schema.COLUMNS` and SQLite's `pragma_table_info(t.value)`.
 * A trigger counts if it assigns to the column of the new row, and if the account may see it.
 */
export const FILLER_SQL: Readonly<Record<Family, string>> = {
  postgres:
    `COALESCE(CASE WHEN a.attidentity <> '' THEN 'identity ' END, (SELECT 'default ' || pg_catalog.pg_get_expr(f.adbin, f.adrelid) ` +
    `FROM pg_catalog.pg_attrdef f WHERE f.adrelid = a.attrelid AND f.adnum = a.attnum), (SELECT 'trigger ' || g.tgname ` +
    `FROM pg_catalog.pg_trigger g JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid WHERE g.tgrelid = a.attrelid ` +
    // For each row, before an insert. Some ORMs replace question marks.
    `AND NOT g.tgisinternal AND g.tgenabled <> 'D' AND (g.tgtype & 7) = 7 AND p.prosrc ~* replace(` +
    `'new[.]"{0,1}NAME"{0,1}[[:space:]]*:=|(begin|then|else|loop|into|;)[[:space:]]*new[.]"{0,1}NAME"{0,1}[[:space:]]*(=|;|from[[:space:]])', ` +
    `'NAME', regexp_replace(a.attname, '[^[:alnum:]_]', '.', 'g')) LIMIT 1))`,
  mysql:
    `COALESCE(CASE WHEN c.EXTRA LIKE '%auto_increment%' THEN CONCAT('auto_increment ', c.COLUMN_TYPE) END, ` +
    // MariaDB writes a default of NULL as a text.
    `CASE WHEN c.COLUMN_DEFAULT <> 'NULL' THEN CONCAT('default ', c.COLUMN_DEFAULT) END, (SELECT CONCAT('trigger ', g.TRIGGER_NAME) ` +
    `FROM information_schema.TRIGGERS AS g WHERE g.EVENT_OBJECT_SCHEMA = c.TABLE_SCHEMA AND g.EVENT_OBJECT_TABLE = c.TABLE_NAME ` +
    `AND g.ACTION_TIMING = 'BEFORE' AND g.EVENT_MANIPULATION = 'INSERT' AND LOCATE(CONCAT('setnew.', LOWER(c.COLUMN_NAME), '='), ` +
    `REPLACE(REPLACE(${packed('g.ACTION_STATEMENT', ['`', 'CHAR(9)', 'CHAR(10)', 'CHAR(13)'])}, ':=', '='), ',new.', 'setnew.')) > 0 LIMIT 1))`,
  sqlite:
    `COALESCE(CASE WHEN lower(c.type) = 'integer' AND c.pk = 1 AND (SELECT COUNT(*) FROM pragma_table_info(t.value) AS k WHERE k.pk > 0) = 1 ` +
    `AND NOT EXISTS (SELECT 1 FROM sqlite_master AS m WHERE m.type = 'table' AND lower(m.name) = lower(t.value) ` +
    `AND m.sql LIKE '%)%without%rowid%') THEN 'rowid ' END, ` +
    `CASE WHEN upper(c.dflt_value) <> 'NULL' THEN 'default ' || c.dflt_value END, (SELECT 'trigger ' || m.name FROM sqlite_master AS m ` +
    `WHERE m.type = 'trigger' AND lower(m.tbl_name) = lower(t.value) AND instr(${packed('m.sql', ['`', '"', 'char(9)', 'char(10)', 'char(13)'])}, ` +
    `'afterinserton') > 0 AND instr(replace(${packed('m.sql', ['`', '"', 'char(9)', 'char(10)', 'char(13)'])}, ',', 'set'), ` +
    `'set' || lower(c.name) || '=') > 0 LIMIT 1))`,
};

/** SQL for a text in lower case without blanks and these characters. */
function packed(text: string, without: readonly string[]): string {
  return [' ', ...without].reduce(
    (sql, each) => `REPLACE(${sql}, ${/^char/i.test(each) ? each : `'${each}'`}, '')`,
    `LOWER(${text})`,
  );
}

/** Reads the answer to {@link FILLER_SQL}: undefined if nothing fills the column. */
export function readFiller(answer: unknown): ColumnFiller | undefined {
  const [, kind, detail] =
    /^(\w+) ([^]*)$/.exec(Buffer.isBuffer(answer) ? String(answer) : ((answer ?? '') as string)) ?? [];
  if (kind === undefined) return undefined;
  const isCounter = kind === 'default' ? NEXT_VALUE.test(detail!) : kind !== 'trigger';
  return { kind: kind as ColumnFiller['kind'], detail: detail!, isCounter };
}

/** A call of the database's own `nextval`, with a sequence: `order_nextval()` and `nextval()` are functions of the application. */
const NEXT_VALUE = /(?<![\w$])nextval\([^)]/;

/** Says what fills a column of IDs, and which statement ends it. */
export function describeFiller(
  { kind, detail }: ColumnFiller,
  { schema, table: name, column: key }: FilledColumn,
  dialect: Dialect,
): { readonly problem: string; readonly cure: string } {
  const table = [schema, name].flatMap((each) => (each ? dialect.quote(each) : [])).join('.');
  const column = dialect.quote(key);
  const what = { rowid: 'integer primary key', default: `default ${detail}`, trigger: `trigger ${detail}` }[
    kind as 'rowid'
  ];
  const anew =
    `SQLite cannot change a column: make the table anew with ${column} bigint NOT NULL, or text NOT NULL if the ORM keeps IDs ` +
    'as texts, copy the rows, and rename it';
  const cures = {
    rowid: anew,
    auto_increment: `ALTER TABLE ${table} MODIFY ${column} ${/^bigint/i.test(detail) ? detail : 'bigint'} NOT NULL`,
    identity: `ALTER TABLE ${table} ALTER COLUMN ${column} DROP IDENTITY`,
    default: dialect.altersColumns
      ? `ALTER TABLE ${table} ALTER COLUMN ${column} DROP DEFAULT${looksIssued(detail) ? ', or declare databaseDefault' : ''}`
      : anew,
    trigger: `${dialect.dropTrigger(dialect.quote(detail), table)}, or take the key out of it`,
  };
  return {
    problem:
      `the database still fills ${name}.${key} (${what ?? kind}): an insert that bypasses Raindrop gets a key of the ` +
      `database and no error`,
    cure: cures[kind],
  };
}

/**
 * Says what is wrong with a column that a function of the database is to fill, and which statement ends it.
 * @param isFound whether the search path of the connection finds the function by its name alone
 * @returns undefined if the function fills it
 */
export function describeDefault(
  wanted: IdFunction,
  filler: ColumnFiller | undefined,
  place: FilledColumn,
  dialect: Dialect,
  isFound: boolean,
): ReturnType<typeof describeFiller> | undefined {
  if (filler?.kind === 'default' && isCallOf(wanted, filler.detail, isFound)) return undefined;
  const table = [place.schema, place.table].flatMap((each) => (each ? dialect.quote(each) : [])).join('.');
  const set = `ALTER TABLE ${table} ALTER COLUMN ${dialect.quote(place.column)} SET DEFAULT ${callOf(wanted)}`;
  const what = `${place.table}.${place.column}`;
  if (filler === undefined) {
    return {
      problem: `${what} has no default in the database, which refuses a row that no application inserts`,
      cure: set,
    };
  }
  const { kind, detail } = filler;
  const problem = `the database fills ${what} by ${`${kind} ${detail}`.trim()}, and not by ${callOf(wanted)}`;
  return { problem, cure: kind === 'default' ? set : `${describeFiller(filler, place, dialect).cure}; then ${set}` };
}
