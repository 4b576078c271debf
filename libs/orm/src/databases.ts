/** What differs between databases for the keys of every ORM. What differs for one ORM is in its folder. */

import { type Dialect, dialectOf, type Family } from '@raindrop/node/internal';

/** MariaDB is `mysql`. */
export type Database = Family;

interface KeyDatabase {
  readonly dialect: Dialect;
  /** Whether the database fills an integer primary key itself: that of SQLite is the number of the row. */
  readonly fillsIntegerKeys: boolean;
  /** Makes an array in JSON, as relations are loaded. */
  readonly jsonArray: string;
  /** SQL for a column of the catalogue: 1 for a `bigint`, and 0 for another type. */
  readonly isBigint: string;
  /** Finds a column in the catalogue: FROM and what follows. The aliases are those of `FILLER_SQL`. */
  readonly catalogue: (table: string, column: string, schema: string | undefined) => string;
  /**
   * Returns what to do about a rounded column: it names the setting if the driver shows it, else the settings that may round.
   * @param settings the driver's, as far as the ORM shows and uses them
   */
  readonly cureOf: (settings: DriverSettings | undefined) => string;
}

/** The settings of a driver that may round, by the names that mysql2, mariadb and pg give them. */
export interface DriverSettings {
  readonly supportBigNumbers?: unknown;
  readonly bigIntAsNumber?: unknown;
  readonly typeCast?: unknown;
  readonly types?: unknown;
}

export const DATABASES: Readonly<Record<Database, KeyDatabase>> = {
  postgres: {
    dialect: dialectOf('postgres'),
    fillsIntegerKeys: false,
    jsonArray: 'json_build_array',
    isBigint: '(a.atttypid = 20)::int',
    catalogue: (table, column, schema) =>
      'from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid ' +
      'join pg_catalog.pg_namespace n on n.oid = c.relnamespace ' +
      `where c.relname = ${table} and a.attname = ${column}${schema ? ` and n.nspname = ${schema}` : ''} ` +
      'order by pg_catalog.pg_table_is_visible(c.oid) desc, a.atttypid = 20 desc',
    cureOf: (settings) =>
      parsesRounding(settings?.types)
        ? "The pool's own types make a number of int8 (OID 20): leave it out there"
        : 'Something makes a number of int8 (OID 20): types.setTypeParser(20, ...), pg.defaults.parseInt8 or the types of ' +
          'the pool. Remove it, or parse with BigInt',
  },
  mysql: {
    dialect: dialectOf('mysql'),
    fillsIntegerKeys: false,
    jsonArray: 'json_array',
    isBigint: "c.data_type = 'bigint'",
    catalogue: (table, column, schema = 'database()') =>
      `from information_schema.columns as c ` +
      `where c.table_name = ${table} and c.column_name = ${column} and c.table_schema = ${schema}`,
    cureOf: mysqlCure,
  },
  sqlite: {
    dialect: dialectOf('better-sqlite3'),
    fillsIntegerKeys: true,
    jsonArray: 'json_array',
    isBigint: "c.type like '%int%'",
    catalogue: (table, column, schema) =>
      `from (select ${table} as value) as t join pragma_table_info(t.value${schema ? `, ${schema}` : ''}) as c ` +
      `where c.name = ${column} collate nocase`,
    cureOf: () =>
      'Let better-sqlite3 deliver exact integers, database.defaultSafeIntegers(), or make the column a text',
  },
};

function parsesRounding(types: unknown): boolean {
  const { getTypeParser } = (types ?? {}) as { getTypeParser?: (oid: number, format: string) => unknown };
  const parse = getTypeParser?.call(types, 20, 'text') as ((text: string) => unknown) | undefined;
  return typeof parse === 'function' && typeof parse('9223372036854775807') === 'number';
}

function mysqlCure(settings: DriverSettings | undefined): string {
  const found = [
    ...(typeof settings?.typeCast === 'function' ? ['typeCast is set: let it call next() for LONGLONG'] : []),
    ...(settings?.bigIntAsNumber === true ? ['bigIntAsNumber is on: leave it out'] : []),
    ...(settings !== undefined && settings.supportBigNumbers !== true
      ? ['supportBigNumbers is off: set supportBigNumbers: true']
      : []),
  ];
  if (found.length > 0) return `In the driver's options ${found.join('; ')}`;
  return 'Let mysql2 deliver exact integers: supportBigNumbers: true, and a typeCast, if any, that calls next() for LONGLONG';
}
