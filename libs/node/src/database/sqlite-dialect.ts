import { type ColumnDefinition, type ColumnKind, type Dialect, lengthOf } from './dialect.js';
import { gaveWay } from './left-session.js';
import { sqliteDurability } from './durability.js';
import { MOVED } from './sqlite-files.js';

const NOW_TEXT = "strftime('%Y-%m-%d %H:%M:%f','now')";

/** SQLite through better-sqlite3. Times are text in UTC, to the millisecond. */
export const sqliteDialect: Dialect = {
  family: 'sqlite',
  nowMs: "CAST(round((julianday('now')-2440587.5)*86400000.0) AS INTEGER)",
  nowTime: NOW_TEXT,
  unusedTime: "'2023-01-01 00:00:00'",
  tableOptions: '',
  keyTableOptions: '',
  inlineIndexes: false,
  addsColumnsTogether: false,
  altersColumns: false,
  hasReturning: true,
  // The application's hook for new connections may have set a time-out, which would block the event loop. In WAL mode
  // better-sqlite3 does not sync each commit: a power failure could lose an acknowledged grant.
  session: () => ['PRAGMA busy_timeout = 0', 'PRAGMA synchronous = FULL'],
  runningStatement: () => undefined,
  waitReasons: '',
  failureEndsTransaction: false,
  begin: 'BEGIN IMMEDIATE',
  durability: sqliteDurability,
  hasServers: false,
  term: "''",
  termOfWrite: "''",
  destination: "''",
  startedAt: "''",
  sessionAgeMs: '0',
  serverZone: undefined,
  quote: (identifier) => quoted(identifier),
  placeholder: () => '?',
  bind: (value) => (typeof value === 'number' ? BigInt(value) : value),
  definition: (column) =>
    column.kind === 'counter' ? TYPES.counter : `${typeOf(column.kind)} NOT NULL${defaultOf(column)}`,
  exactInteger: (column) => `CASE typeof(${column}) WHEN 'integer' THEN CAST(${column} AS text) END`,
  timeAsMs: (column) => `CAST(round((julianday(${column})-2440587.5)*86400000.0) AS INTEGER)`,
  insertMissing: (table, columns, key, rows) =>
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.join(', ')} ON CONFLICT (${key}) DO NOTHING`,
  createIndex: (index, { schema, name }, column) => {
    const path = schema === undefined ? quoted(index) : `${quoted(schema)}.${quoted(index)}`;
    return `CREATE INDEX IF NOT EXISTS ${path} ON ${quoted(name)} (${quoted(column)})`;
  },
  dropTrigger: (trigger) => `DROP TRIGGER ${trigger}`,
  columnsOf: ({ schema, name }, placeholderOf) => {
    const inSchema = (): string => (schema === undefined ? '' : `, ${placeholderOf(schema)}`);
    return `SELECT name FROM pragma_table_info(${placeholderOf(name)}${inSchema()})`;
  },
  // The journal of the file is checked instead.
  storageOf: () => 'NULL',
  judgeStorage: () => ({}),
  lacksTerm: () => false,
  isBusy: gaveWay,
  isGone: (code, reason) => code === MOVED || (code === 'SQLITE_ERROR' && /no such (table|column): /.test(reason)),
  lacksCharacters: () => false,
  refusal: (code) =>
    (code.startsWith('SQLITE_READONLY') && code !== MOVED) || code === 'SQLITE_AUTH' ? 'rights' : undefined,
};

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

const TYPES = {
  bigint: 'bigint',
  int: 'integer',
  small: 'smallint',
  time: 'text',
  // Without AUTOINCREMENT SQLite reuses the id of a deleted last row.
  counter: 'integer NOT NULL PRIMARY KEY AUTOINCREMENT',
};

function typeOf(kind: ColumnKind): string {
  return typeof kind === 'string' ? TYPES[kind] : `varchar(${lengthOf(kind)})`;
}

function defaultOf({ defaultValue }: ColumnDefinition): string {
  if (defaultValue === undefined) return '';
  return ` DEFAULT ${defaultValue === 'now' || defaultValue === 'touched' ? `(${NOW_TEXT})` : defaultValue}`;
}
