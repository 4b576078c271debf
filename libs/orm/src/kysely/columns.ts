/** The columns that get IDs, and the mark of an ID that is still missing. */

import { ConfigurationError } from '@raindrop/core';
import type { AliasNode, TableNode } from 'kysely';
import { InsertRefusedError, type InsertRefusal, type KeyOptions, Keys } from '../ids.js';

/** The columns say which keys get IDs; the other options are for all of them. */
export interface SnowflakeColumns extends KeyOptions {
  /**
   * The keys of each table, by the names that the database knows: a list, or options for each.
   *
   *     { orders: ['id'], 'archive.orders': ['id'], customers: { id: { code: 'customer' } } }
   *
   * A table without a schema means the tables of that name in all schemas.
   */
  readonly columns: Readonly<Record<string, readonly string[] | Readonly<Record<string, KeyOptions>>>>;
}

/** Marks a parameter of a compiled query that becomes a new ID each time the query is sent. */
export class NewId {
  /** `compile()` shows this alone. A `toJSON` would let `execute()` of mysql2 write the mark into a column of text. */
  readonly newIdOf: string;
  readonly #keys: Keys;
  readonly #isOnlyKey: boolean;

  constructor(keys: Keys, isOnlyKey: boolean) {
    this.newIdOf = keys.place;
    this.#keys = keys;
    this.#isOnlyKey = isOnlyKey;
  }

  get keys(): Keys {
    return this.#keys;
  }

  /** Whether the options name no other key of the table. This key is the row's ID then. */
  get isOnlyKey(): boolean {
    return this.#isOnlyKey;
  }

  /** pg calls it where another driver than ours runs the compiled query. */
  toPostgres(): never {
    throw refusal('unfilled', this);
  }

  /** mysql2 calls it in the same case. better-sqlite3 refuses every object. */
  toSqlString(): never {
    throw refusal('unfilled', this);
  }
}

export function isNewId(value: unknown): value is NewId {
  return value instanceof NewId;
}

/** The keys of each table, by the names of the table and of the column. */
export type Tables = ReadonlyMap<string, ReadonlyMap<string, NewId>>;

export function newIdsOf({ columns, ...shared }: SnowflakeColumns): Tables {
  const tables = Object.entries(columns ?? {}).map(([table, given]) => {
    const named: Readonly<Record<string, KeyOptions>> = isList(given)
      ? Object.fromEntries(given.map((column) => [column, {}]))
      : given;
    const own = isObject(named) ? Object.entries(named) : [];
    if (own.length === 0) throw noColumns(`columns.${table}`, given);
    const newIds = own.map(([column, options]) => {
      const keys = new Keys(`${table}.${column}`, { ...shared, ...options });
      return [column, new NewId(keys, own.length === 1)] as const;
    });
    return [table, new Map(newIds)] as const;
  });
  if (tables.length === 0) throw noColumns('columns', columns);
  return new Map(tables);
}

function noColumns(option: string, given: unknown): ConfigurationError {
  const message = "must say which columns get IDs: columns: { orders: ['id'] }";
  return new ConfigurationError([{ option, given: JSON.stringify(given), message }]);
}

function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Returns the keys of a table that a query names. */
export function keysOf(into: TableNode | AliasNode | undefined, tables: Tables): [string, NewId][] {
  const table = tableOf(into);
  if (table === undefined) return [];
  const { schema, identifier } = table;
  const qualified = schema === undefined ? undefined : tables.get(`${schema.name}.${identifier.name}`);
  return [...(qualified ?? tables.get(identifier.name) ?? [])];
}

export function tableOf(into: TableNode | AliasNode | undefined): TableNode['table'] | undefined {
  return (into !== undefined && 'alias' in into ? (into.node as TableNode) : into)?.table;
}

const WAY_OUT: Readonly<Partial<Record<InsertRefusal, string>>> = {
  select:
    'has no ID in an insert whose rows come from a query. Select the rows first and insert them with values(), or let ' +
    'the query select the IDs of the new rows, too, and name the column.',
  merge:
    'has no ID in the insert of a MERGE, whose one parameter would be the ID of every new row. Give each row of the source ' +
    'its ID and insert that one, or use insertInto().onConflict().',
  replace:
    'would be another one after a REPLACE, which deletes each row that has a unique value of the new one. Use ' +
    'onConflict() or onDuplicateKeyUpdate().',
  unfilled:
    'has no ID: the query was compiled by a dialect withSnowflakes() and run by another driver. Run it by ' +
    'db.executeQuery(), or pass the IDs as values.',
};

export function refusal(why: keyof typeof WAY_OUT, { keys }: NewId): InsertRefusedError {
  return new InsertRefusedError(keys.place, why, WAY_OUT[why]!);
}
