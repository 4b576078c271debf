import type { DatabaseRefusal } from './database-refused-error.js';
import type { Dialect } from './dialect.js';
import { mysqlDurability } from './durability.js';
import type { ColumnKind, ColumnDefinition } from './column-definition.js';
import { offsetMs } from './zone-offset.js';

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
  return {
    family: 'mysql',
    nowMs: "(TIMESTAMPDIFF(MICROSECOND,'1970-01-01 00:00:00',UTC_TIMESTAMP(6)) DIV 1000)",
    nowTime: 'CURRENT_TIMESTAMP(6)',
    unusedTime: "'2023-01-01 00:00:00'",
    tableOptions: ' ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci',
    keyTableOptions: ' ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin',
    inlineIndexes: true,
    addsColumnsTogether: true,
    hasReturning: false,
    session: [
      // With autocommit switched off for the server or by init_connect, an acknowledged write would never be committed.
      // A strict mode refuses what it would otherwise cut; backslashes must mean what the driver's escaping means.
      `SET SESSION autocommit = 1, time_zone = '${zone}', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'`,
    ],
    durability: mysqlDurability,
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
    columnsOf: ({ schema, name }, placeholderOf) =>
      'SELECT column_name AS name FROM information_schema.columns ' +
      `WHERE table_schema = ${schema === undefined ? 'DATABASE()' : placeholderOf(schema)} AND table_name = ${placeholderOf(name)}`,
    isBusy: () => false,
    refusal: (code) => REFUSALS[code],
  };
}

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
  ...{ bigint: 'bigint', int: 'int', small: 'smallint', time: 'datetime(6)' },
  // Counts on behind deleted rows, and (MySQL from 8, MariaDB from 10.2.4) behind a restart.
  counter: 'bigint NOT NULL AUTO_INCREMENT PRIMARY KEY',
};

function typeOf(kind: ColumnKind): string {
  if (typeof kind === 'string') return TYPES[kind];
  if ('text' in kind) return `varchar(${kind.text})`;
  if ('key' in kind) return `varchar(${kind.key}) ${EXACT_COLLATION}`;
  return `varchar(${kind.exact}) CHARACTER SET ascii COLLATE ascii_bin`;
}

/**
 * To utf8mb4_bin a text and the same one with a space behind it are equal; what does better has a name for each server. A
 * MySQL before 8.0.17 has none: its column takes the table's collation, see keyTableOptions.
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
