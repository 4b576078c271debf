/** What differs inside Drizzle 1.0 and 0.45. Each function says what can go with 0.45. */

import { type Column, is, type SQL, type sql, type StringChunk, type Table } from 'drizzle-orm';
import { MySqlDialect } from 'drizzle-orm/mysql-core';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Database } from '../databases.js';
import type { DrizzleClass } from './replace-method.js';

/** A dialect of Drizzle. Only 0.45 has `casing`: in 1.0 a column has the name that it has in the database. */
export interface Dialect {
  readonly casing?: { getColumnCasing(column: Column): string };
}

/** The name of a column in the database. */
export function nameOf(column: Column, dialect: Dialect | undefined): string {
  return dialect?.casing?.getColumnCasing(column) ?? column.name;
}

/** The text of a part of SQL. It is a list of texts in 0.45. */
export function wordsOf({ value }: StringChunk): string {
  return [value as string | readonly string[]].flat().join('');
}

/** The method by which Drizzle makes a statement of parts, those of nested `sql` too. 0.45 has no `collectSQL`. */
export function methodOfParts({ prototype }: DrizzleClass): string {
  return 'collectSQL' in prototype ? 'collectSQL' : 'buildQueryFromSourceParams';
}

/** The database of a connection. The classes of connections have other names in 0.45; those of dialects are the same. */
export function databaseOf(db: object): Database {
  const { dialect } = db as { readonly dialect?: object };
  return is(dialect, PgDialect) ? 'postgres' : is(dialect, MySqlDialect) ? 'mysql' : 'sqlite';
}

/** The tables that a connection knows, and those that `with` can load, as JSON. */
interface KnownTables {
  readonly all: object;
  readonly related: readonly Table[];
}

/** What `drizzle()` was given: `relations` in 1.0, `schema` in 0.45. */
export function tablesOf(db: { readonly _: object }): KnownTables {
  const { relations, fullSchema, schema } = db._ as {
    readonly relations?: Readonly<Record<string, { readonly table: Table; readonly relations: object }>>;
    readonly fullSchema?: object;
    readonly schema?: Readonly<Record<string, { readonly relations: object }>>;
  };
  const targets = Object.values(relations ?? schema ?? {}).flatMap((each) => Object.values(each.relations) as Target[]);
  const tables = Object.entries(relations ?? {}).map(([name, { table }]) => [name, table]);
  return {
    all: fullSchema ?? (Object.fromEntries(tables) as object),
    related: targets.map(({ targetTable, referencedTable }) => (targetTable ?? referencedTable)!),
  };
}

type SqlTag = typeof sql;

interface Target {
  readonly targetTable?: Table;
  readonly referencedTable?: Table;
}

/** A value of a column as a relation selects it. In 0.45 that is the value itself. */
export function inRelation(column: Column, value: SQL, ofDrizzle: SqlTag): SQL {
  const ofCustomType = column as { jsonSelectIdentifier?(value: SQL, ofDrizzle: SqlTag): SQL };
  return ofCustomType.jsonSelectIdentifier?.(value, ofDrizzle) ?? value;
}
