import type { DatabaseRefusal } from './database-errors.js';
import { type ColumnDefinition, type ColumnKind, type Dialect, lengthOf, quoteTable } from './dialect.js';
import { gaveWay, LONGEST_LOCK_WAIT_S } from './left-session.js';
import { postgresDurability } from './durability.js';
import { REPLICA } from './server-term.js';
import type { TableName } from './table-name.js';

// The control file shows the old timeline until a checkpoint; the name of the current WAL file shows the new one.
const TERM = `CASE WHEN pg_is_in_recovery() THEN '${REPLICA}' ELSE (SELECT system_identifier FROM pg_control_system()) || '.' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`;

/** PostgreSQL. Its `timestamptz` is a moment, not a wall time: the session's zone does not matter. */
export const postgresDialect: Dialect = {
  family: 'postgres',
  // now() is constant inside a transaction.
  nowMs: '(FLOOR(EXTRACT(EPOCH FROM clock_timestamp())*1000))::bigint',
  nowTime: 'clock_timestamp()',
  unusedTime: "'2023-01-01 00:00:00+00'",
  tableOptions: '',
  keyTableOptions: '',
  inlineIndexes: false,
  addsColumnsTogether: true,
  altersColumns: true,
  hasReturning: true,
  // With `off` a crash loses acknowledged grants. A pooler, which reports another pid, would pass a session with our
  // lock_timeout to other clients.
  session: (session = 0) => [
    `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off' ` +
      `UNION ALL SELECT set_config('lock_timeout', '${LONGEST_LOCK_WAIT_S}s', false) WHERE pg_backend_pid() = ${session}`,
  ],
  runningStatement: (session, ms) =>
    `SELECT concat_ws(' ', wait_event_type, wait_event) AS state FROM pg_stat_activity WHERE pid = ${session} AND usename = session_user AND state = 'active' ` +
    `AND query_start < clock_timestamp() - interval '${Math.floor(ms)} milliseconds'`,
  waitReasons:
    'a lock that another session holds (pg_locks, pg_blocking_pids()), or for a replica to confirm a commit ' +
    '(synchronous_standby_names)',
  failureEndsTransaction: true,
  begin: 'BEGIN',
  durability: postgresDurability,
  hasServers: true,
  term: TERM,
  termOfWrite: TERM,
  destination: `concat_ws(' ', ${TERM}, current_database(), current_schema())`,
  startedAt: 'EXTRACT(EPOCH FROM pg_postmaster_start_time())::text',
  standbys: 'SELECT count(*) AS standbys FROM pg_stat_replication',
  // The server's own: a pooler's session may be older than ours.
  sessionAgeMs:
    '(SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp() - backend_start)*1000)::bigint FROM pg_stat_get_activity(pg_backend_pid()))',
  serverZone: undefined,
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: (position) => `$${position}`,
  bind: (value) => value,
  definition: (column) =>
    column.kind === 'counter' ? TYPES.counter : `${typeOf(column.kind)} NOT NULL${defaultOf(column)}`,
  exactInteger: (column) => `CAST(${column} AS text)`,
  timeAsMs: (column) => `(FLOOR(EXTRACT(EPOCH FROM ${column})*1000))::bigint`,
  insertMissing: (table, columns, key, rows) =>
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.join(', ')} ON CONFLICT (${key}) DO NOTHING`,
  createIndex: (index, table, column) =>
    `CREATE INDEX IF NOT EXISTS ${quoted(index)} ON ${path(table)} (${quoted(column)})`,
  dropTrigger: (trigger, table) => `DROP TRIGGER ${trigger} ON ${table}`,
  columnsOf: (table, placeholderOf) =>
    // to_regclass follows search_path as every other statement does; information_schema hides tables without rights.
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(${placeholderOf(path(table))}) AND attnum > 0 AND NOT attisdropped`,
  storageOf: (table, placeholderOf) =>
    `(SELECT relpersistence::text FROM pg_class WHERE oid = to_regclass(${placeholderOf(path(table))}))`,
  judgeStorage: (storage) => {
    if (storage === 'u') return { emptied: 'it is UNLOGGED: a crash empties it (fix: ALTER TABLE ... SET LOGGED)' };
    return storage === 't' ? { emptied: 'it is TEMPORARY: it ends with its session' } : {};
  },
  isBusy: gaveWay,
  lacksTerm: (code) => LACKS_TERM.includes(code),
  isGone: (code) => GONE.includes(code),
  // untranslatable_character
  lacksCharacters: (code) => code === '22P05',
  refusal: (code) => REFUSALS[code],
};

/** undefined_table, undefined_column, invalid_catalog_name, invalid_schema_name */
const GONE = ['42P01', '42703', '3D000', '3F000'];

/**
 * undefined_function, undefined_table, feature_not_supported, insufficient_privilege, object_not_in_prerequisite_state:
 * the codes of servers that speak PostgreSQL's protocol over another storage.
 */
const LACKS_TERM = ['42883', '42P01', '0A000', '42501', '55000'];

const REFUSALS: Readonly<Record<string, DatabaseRefusal>> = {
  // invalid_authorization_specification, invalid_password
  '28000': 'account',
  '28P01': 'account',
  // invalid_catalog_name, invalid_schema_name
  '3D000': 'database',
  '3F000': 'database',
  // insufficient_privilege
  '42501': 'rights',
};

function quoted(identifier: string): string {
  return postgresDialect.quote(identifier);
}

function path(table: TableName): string {
  return quoteTable(postgresDialect, table);
}

const TYPES = {
  bigint: 'bigint',
  int: 'integer',
  small: 'smallint',
  time: 'timestamptz',
  counter: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
};

function typeOf(kind: ColumnKind): string {
  return typeof kind === 'string' ? TYPES[kind] : `varchar(${lengthOf(kind)})`;
}

function defaultOf({ defaultValue }: ColumnDefinition): string {
  if (defaultValue === undefined) return '';
  return ` DEFAULT ${defaultValue === 'now' || defaultValue === 'touched' ? 'CURRENT_TIMESTAMP' : defaultValue}`;
}
