import type { DatabaseRefusal } from './database-errors.js';
import type { ColumnDefinition, ColumnKind, Dialect } from './dialect.js';
import { gaveWay, LONGEST_LOCK_WAIT_S } from './left-session.js';
import { mysqlDurability } from './durability.js';
import { REPLICA } from './server-term.js';
import { offsetMs } from './sql-values.js';

/**
 * MySQL and MariaDB.
 *
 * The original's `datetime` columns carry no zone. They are written and read in `zone`, an offset such as `+08:00`,
 * which is also the session's: then they are right whatever the server's zone is.
 *
 * @throws ConfigurationError when `zone` is not an offset
 */
export function mysqlDialect(zone: string): Dialect {
  // Also the check that makes the zone fit to be part of a statement.
  const zoneMs = offsetMs(zone);
  // With autocommit switched off for the server or by init_connect, an acknowledged write would never be committed.
  // A strict mode refuses what it would otherwise cut; backslashes must mean what the driver's escaping means.
  const session =
    `autocommit = 1, time_zone = '${zone}', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', ` +
    `innodb_lock_wait_timeout = ${LONGEST_LOCK_WAIT_S}, lock_wait_timeout = ${LONGEST_LOCK_WAIT_S}, ` +
    // Rows that a limit cuts off would look like rows that are missing. DEFAULT would be the server's limit.
    `sql_select_limit = 18446744073709551615`;
  return {
    family: 'mysql',
    nowMs: NOW_MS,
    nowTime: 'CURRENT_TIMESTAMP(6)',
    unusedTime: "'2023-01-01 00:00:00'",
    tableOptions: ' ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci',
    keyTableOptions: ' ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin',
    inlineIndexes: true,
    addsColumnsTogether: true,
    altersColumns: true,
    hasReturning: false,
    session: () => [`SET SESSION ${session}`],
    runningStatement: (session, ms) =>
      `SELECT state AS state FROM information_schema.processlist WHERE id = ${session} AND command = 'Query' ` +
      `AND time >= ${Math.floor(ms / 1_000)}`,
    waitReasons:
      'a lock that another session holds (SHOW ENGINE INNODB STATUS, SHOW FULL PROCESSLIST), or for a replica to ' +
      'confirm a commit (semi-synchronous replication)',
    failureEndsTransaction: false,
    begin: 'START TRANSACTION',
    sessionAgeMs: `COALESCE(${NOW_MS} - @raindrop_since, 0)`,
    termSession: `SET ${TERM_SESSION}`,
    sessionAtOnce: {
      all: `SET SESSION ${session}, ${FRESH_READS}, ${TERM_SESSION}`,
      butFreshReads: `SET SESSION ${session}, ${TERM_SESSION}`,
    },
    durability: mysqlDurability,
    hasServers: true,
    // In MariaDB 12 read_only is not a number.
    term: `CASE WHEN CAST(@@GLOBAL.read_only AS CHAR) NOT IN ('0', 'OFF') THEN '${REPLICA}' ELSE COALESCE(@raindrop_term, '') END`,
    termOfWrite: "COALESCE(@raindrop_term, '')",
    destination: DESTINATION,
    startedAt: STARTED_AT,
    freshReads: `SET SESSION ${FRESH_READS}`,
    serverZone: SERVER_ZONE,
    quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
    placeholder: () => '?',
    bind: (value) => value,
    definition: (column) =>
      column.kind === 'counter' ? TYPES.counter : `${typeOf(column.kind)} NOT NULL${defaultOf(column)}`,
    exactInteger: (column) => `CAST(${column} AS CHAR)`,
    timeAsMs: (column) => `(TIMESTAMPDIFF(MICROSECOND,'1970-01-01 00:00:00',${column}) DIV 1000${signed(-zoneMs)})`,
    insertMissing: (table, columns, _key, rows) =>
      `INSERT IGNORE INTO ${table} (${columns.join(', ')}) VALUES ${rows.join(', ')}`,
    createIndex: (index, _table, column) => `KEY \`${index}\` (\`${column}\`)`,
    dropTrigger: (trigger) => `DROP TRIGGER ${trigger}`,
    columnsOf: ({ schema, name }, placeholderOf) =>
      'SELECT column_name AS name FROM information_schema.columns ' +
      `WHERE table_schema = ${schema === undefined ? 'DATABASE()' : placeholderOf(schema)} AND table_name = ${placeholderOf(name)}`,
    storageOf: ({ schema, name }, placeholderOf) =>
      '(SELECT engine FROM information_schema.tables ' +
      `WHERE table_schema = ${schema === undefined ? 'DATABASE()' : placeholderOf(schema)} AND table_name = ${placeholderOf(name)})`,
    judgeStorage: (engine) => {
      if (/^innodb$/i.test(engine)) return {};
      const cure = 'fix: ALTER TABLE ... ENGINE=InnoDB';
      const emptied = /^(memory|blackhole)$/i.test(engine);
      if (emptied) return { emptied: `its engine is ${engine}: a restart of the server empties it (${cure})` };
      return { loses: `its engine is ${engine}: a crash can lose acknowledged writes, or corrupt the table (${cure})` };
    },
    lacksTerm: (code) => LACKS_TERM.includes(code),
    isBusy: gaveWay,
    isGone: (code) => GONE.includes(code),
    lacksCharacters: (code) => LACKS_CHARACTERS.includes(code),
    refusal: (code) => REFUSALS[code],
  };
}

const NOW_MS = "(TIMESTAMPDIFF(MICROSECOND,'1970-01-01 00:00:00',UTC_TIMESTAMP(6)) DIV 1000)";

/** The codes of servers of this family that lack these variables or tables, or do not show them. */
const LACKS_TERM = [
  ...['ER_PARSE_ERROR', 'ER_UNKNOWN_SYSTEM_VARIABLE', 'ER_NO_SUCH_TABLE', 'ER_UNKNOWN_TABLE', 'ER_BAD_DB_ERROR'],
  ...['ER_BAD_FIELD_ERROR', 'ER_TABLEACCESS_DENIED_ERROR', 'ER_SPECIFIC_ACCESS_DENIED_ERROR', 'ER_NOT_SUPPORTED_YET'],
];

/** A session whose database was dropped has no database from then on. */
const GONE = [
  ...['ER_NO_SUCH_TABLE', 'ER_NO_SUCH_TABLE_IN_ENGINE', 'ER_BAD_FIELD_ERROR', 'ER_BAD_DB_ERROR', 'ER_NO_DB_ERROR'],
];

const LACKS_CHARACTERS = [
  'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD',
  'ER_CANT_AGGREGATE_2COLLATIONS',
  'ER_CANNOT_CONVERT_STRING',
];

/** A node that does not know its cluster yet shows zeros: its sessions are as unusable as a replica's. */
const clusterOf = (uuid: string): string =>
  `CASE WHEN ${uuid} = '00000000-0000-0000-0000-000000000000' THEN '${REPLICA}' ELSE CONCAT('cluster ', ${uuid}) END`;
const CLUSTER_OF_MARIADB =
  `(SELECT ${clusterOf('s.VARIABLE_VALUE')} FROM information_schema.GLOBAL_STATUS s, information_schema.GLOBAL_VARIABLES v ` +
  `WHERE s.VARIABLE_NAME = 'WSREP_CLUSTER_STATE_UUID' AND LENGTH(s.VARIABLE_VALUE) = 36 ` +
  `AND v.VARIABLE_NAME = 'WSREP_ON' AND v.VARIABLE_VALUE = 'ON')`;
const CLUSTER_OF_PERCONA =
  `(SELECT ${clusterOf('VARIABLE_VALUE')} FROM performance_schema.global_status ` +
  `WHERE VARIABLE_NAME = 'wsrep_cluster_state_uuid' AND LENGTH(VARIABLE_VALUE) = 36)`;
const GROUP =
  `(SELECT CONCAT('group ', VARIABLE_VALUE) FROM performance_schema.global_variables ` +
  `WHERE VARIABLE_NAME = 'group_replication_group_name' AND VARIABLE_VALUE <> '')`;

/**
 * The server's own id, or that of a cluster which acknowledges no write that another node could lack: there a hop to
 * another node changes nothing. A variable that some servers lack is read from a table, where its absence is not an
 * error.
 */
const TERM =
  `/*M! COALESCE(${CLUSTER_OF_MARIADB}, CONCAT('server ', @@GLOBAL.server_id)) */ ` +
  `/*!80000 COALESCE(${CLUSTER_OF_PERCONA}, ${GROUP}, CONCAT('server ', @@GLOBAL.server_uuid)) */`;

const TERM_SESSION = `@raindrop_since = ${NOW_MS}, @raindrop_term = ${TERM}`;

/** A Galera node then shows all commits of the other nodes. The other bits of the setting stay. */
const FRESH_READS = 'wsrep_sync_wait = @@SESSION.wsrep_sync_wait | 1';

/** NULL if servers cannot be distinguished. The `server_id` of most MariaDBs is the default. */
const DESTINATION =
  `CONCAT(@raindrop_term, ' ', COALESCE(DATABASE(), ''), ` +
  `CASE WHEN @raindrop_term LIKE 'server %' THEN CONCAT_WS(' ', '', @@GLOBAL.hostname, @@GLOBAL.port) ELSE '' END)`;

/** Both are of the moment at which the statement began: to the second their difference is always the same. */
const STARTED_AT =
  `CASE WHEN @raindrop_term LIKE 'server %' THEN CONCAT('' /*M! , UNIX_TIMESTAMP() - ` +
  `(SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME') */) ELSE '' END`;

/** A fortnight apart: the shortest summer time lasts longer. */
const MOMENTS = Array.from({ length: 27 }, (_, fortnight) => `UTC_TIMESTAMP() + INTERVAL ${14 * fortnight} DAY`);

const OFFSETS = MOMENTS.map(
  (moment) => `TIMESTAMPDIFF(MINUTE, ${moment}, CONVERT_TZ(${moment}, '+00:00', @@global.time_zone))`,
);

const SERVER_ZONE = `SELECT ${OFFSETS[0]} AS now, LEAST(${OFFSETS.join(', ')}) AS least, GREATEST(${OFFSETS.join(', ')}) AS most`;

const REFUSALS: Readonly<Record<string, DatabaseRefusal>> = {
  ER_ACCESS_DENIED_ERROR: 'account',
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: 'account',
  ER_ACCOUNT_HAS_BEEN_LOCKED: 'account',
  ER_HOST_NOT_PRIVILEGED: 'account',
  ER_MUST_CHANGE_PASSWORD_LOGIN: 'account',
  ER_BAD_DB_ERROR: 'database',
  ER_NO_DB_ERROR: 'database',
  ER_DBACCESS_DENIED_ERROR: 'rights',
  ER_TABLEACCESS_DENIED_ERROR: 'rights',
  ER_COLUMNACCESS_DENIED_ERROR: 'rights',
  ER_SPECIFIC_ACCESS_DENIED_ERROR: 'rights',
};

const TYPES = {
  bigint: 'bigint',
  int: 'int',
  small: 'smallint',
  time: 'datetime(6)',
  // Never reuses the ids of deleted rows, also (MySQL from 8, MariaDB from 10.2.4) after a restart.
  counter: 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
};

function typeOf(kind: ColumnKind): string {
  if (typeof kind === 'string') return TYPES[kind];
  if ('text' in kind) return `varchar(${kind.text})`;
  if ('key' in kind) return `varchar(${kind.key}) ${EXACT_COLLATION}`;
  return `varchar(${kind.exact}) CHARACTER SET ascii COLLATE ascii_bin`;
}

/**
 * utf8mb4_bin ignores trailing spaces; the collation that does not has a different name on each server. A MySQL before
 * 8.0.17 has none: its column has the table's collation, see keyTableOptions.
 */
const EXACT_COLLATION = '/*M! COLLATE utf8mb4_nopad_bin */ /*!80017 COLLATE utf8mb4_0900_bin */';

function defaultOf({ defaultValue }: ColumnDefinition): string {
  if (defaultValue === undefined) return '';
  if (defaultValue === 'now') return ' DEFAULT CURRENT_TIMESTAMP(6)';
  if (defaultValue === 'touched') return ' DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)';
  return ` DEFAULT ${defaultValue}`;
}

function signed(ms: number): string {
  return ms === 0 ? '' : ms < 0 ? ` - ${-ms}` : ` + ${ms}`;
}
