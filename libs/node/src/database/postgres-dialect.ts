import type { DatabaseRefusal } from './database-refused-error.js';
import type { Dialect } from './dialect.js';
import { postgresDurability } from './durability.js';
import { lengthOf, type ColumnKind, type ColumnDefinition } from './column-definition.js';

/** PostgreSQL. Its `timestamptz` is a moment, not a wall time: the session's zone does not matter. */
export const postgresDialect: Dialect = {
  family: 'postgres',
  // now() stands still inside a transaction.
  nowMs: '(FLOOR(EXTRACT(EPOCH FROM clock_timestamp())*1000))::bigint',
  nowTime: 'clock_timestamp()',
  unusedTime: "'2023-01-01 00:00:00+00'",
  tableOptions: '',
  keyTableOptions: '',
  inlineIndexes: false,
  addsColumnsTogether: true,
  hasReturning: true,
  // With `off` a server that crashes loses grants it has acknowledged.
  session: [`SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`],
  durability: postgresDurability,
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
  createIndex: (index, { schema, name }, column) => {
    const table = schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`;
    return `CREATE INDEX IF NOT EXISTS ${quoted(index)} ON ${table} (${quoted(column)})`;
  },
  columnsOf: ({ schema, name }, placeholderOf) => {
    const path = placeholderOf(schema === undefined ? quoted(name) : `${quoted(schema)}.${quoted(name)}`);
    // to_regclass follows search_path as every other statement does; information_schema hides what one may not use.
    return `SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(${path}) AND attnum > 0 AND NOT attisdropped`;
  },
  isBusy: () => false,
  refusal: (code) => REFUSALS[code],
};

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

const TYPES = {
  ...{ bigint: 'bigint', int: 'integer', small: 'smallint', time: 'timestamptz' },
  counter: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
};

function typeOf(kind: ColumnKind): string {
  return typeof kind === 'string' ? TYPES[kind] : `varchar(${lengthOf(kind)})`;
}

function defaultOf({ defaultValue }: ColumnDefinition): string {
  if (defaultValue === undefined) return '';
  return ` DEFAULT ${defaultValue === 'now' || defaultValue === 'touched' ? 'CURRENT_TIMESTAMP' : defaultValue}`;
}
