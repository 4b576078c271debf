/**
 * IDs as the keys of Kysely's inserts: a dialect around the application's own.
 *
 * @module @raindrop/orm/kysely
 */

import { ConfigurationError } from '@raindrop/core';
import { UnsafeSnowflakeError } from '@raindrop/core/internal';
import type {
  AliasNode,
  ColumnNode,
  ColumnUpdateNode,
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  InsertQueryNode,
  MergeQueryNode,
  OperationNode,
  QueryCompiler,
  QueryResult,
  TableNode,
  ValuesNode,
} from 'kysely';
import { InsertRefusedError, type InsertRefusal, type KeyOptions, Keys } from './ids.js';

export { InsertRefusedError, type InsertRefusal, type KeyIds, type KeyOptions } from './ids.js';

/** The columns say which keys get IDs; the other options are for all of them. */
export interface SnowflakeColumns extends KeyOptions {
  /**
   * The keys of each table, by the names that the database knows: a list, or options for each.
   *
   *     { orders: ['id'], 'archive.orders': ['id'], customers: { id: { code: 'customer' } } }
   *
   * A table without a schema stands for the tables of that name in all schemas.
   */
  readonly columns: Readonly<Record<string, readonly string[] | Readonly<Record<string, KeyOptions>>>>;
}

/** What a dialect of Kysely is. Kysely's own type is not named here: it differs between its ES and CommonJS builds. */
export interface DialectLike {
  /** What runs compiled queries. */
  createDriver(): unknown;
  /** What makes SQL of queries. */
  createQueryCompiler(): unknown;
  /** What the database is able to do. */
  createAdapter(): unknown;
  /** What reads the tables of a database. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- Kysely<any>
  createIntrospector(db: any): unknown;
}

/**
 * Gives every row that is inserted through Kysely an ID, unless it has one: `values()` of one row, many or none, with
 * the key left out, undefined or null, `defaultValues()`, in a transaction, in a `with`. A query that was compiled once
 * gives new IDs each time it runs.
 *
 *     const db = new Kysely<Shop>({ dialect: withSnowflakes(dialect, { ids, columns: { orders: ['id'] } }) });
 *
 * The compiler puts a `NewId` into the parameters of the query, the connection puts an ID in its place when it
 * sends the query. Both stand below all plugins. Raw SQL is sent as it is.
 *
 * @throws ConfigurationError for options that cannot work
 */
export function withSnowflakes<D extends DialectLike>(
  dialect: D,
  options: SnowflakeColumns,
): Pick<D, keyof DialectLike> {
  const inner = dialect as unknown as Dialect;
  const tables = newIdsOf(options);
  const names = [...tables.values()].flatMap((columns) => [...columns.keys()]);
  const outer: Dialect = {
    createQueryCompiler: () => fillingCompiler(inner.createQueryCompiler(), tables),
    createDriver: () => fillingDriver(inner, names),
    createAdapter: () => inner.createAdapter(),
    createIntrospector: (db) => inner.createIntrospector(db),
  };
  return outer;
}

/** Stands in the parameters of a compiled query for an ID of a column. Each place gets an ID of its own when it is sent. */
class NewId {
  /** All that a log shows. It has no `toJSON`, by which `execute()` of mysql2 would write it into a column of text. */
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

  /** Whether the options name no other key of the table, so that this one is the row's ID. */
  get isOnlyKey(): boolean {
    return this.#isOnlyKey;
  }

  /** Asked by pg where another driver than ours runs the compiled query. */
  toPostgres(): never {
    throw refusal('unfilled', this);
  }

  /** Asked by mysql2 in the same case. better-sqlite3 refuses every object. */
  toSqlString(): never {
    throw refusal('unfilled', this);
  }
}

function isNewId(value: unknown): value is NewId {
  return value instanceof NewId;
}

/** The keys of each table, by the names of the table and of the column. */
type Tables = ReadonlyMap<string, ReadonlyMap<string, NewId>>;

function newIdsOf({ columns, ...shared }: SnowflakeColumns): Tables {
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

// The compiler: what has to be filled is known when a query is compiled.

function fillingCompiler(compiler: QueryCompiler, tables: Tables): QueryCompiler {
  return { compileQuery: (node, queryId) => compiler.compileQuery(withNewIds(node, tables), queryId) };
}

/**
 * Returns the node with a {@link NewId} for each ID that is missing in its inserts, also in those of a `with` or in
 * `sql`. Nodes are frozen data: only those on the way to an insert are copied.
 */
function withNewIds<T extends object>(value: T, tables: Tables): T {
  const { kind } = value as Partial<OperationNode>;
  if (!Array.isArray(value) && LEAVES.has(kind)) return value;
  let node = value;
  // Every select passes here: a node without an insert below it costs no object.
  for (const name in value) {
    const before = value[name];
    if (!isObject(before)) continue;
    const after = withNewIds(before, tables);
    if (after === before) continue;
    if (node === value) node = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as T;
    node[name] = after;
  }
  if (isInsert(node)) return keysOf(node.into, tables).reduce(filled, node as InsertQueryNode) as object as T;
  if (kind === 'MergeQueryNode') refuseMerge(node as object as MergeQueryNode, tables);
  return node;
}

/** Nodes that hold values of the application, or no insert. */
const LEAVES = new Set<string | undefined>([
  undefined,
  'ValueNode',
  'ValuesNode',
  'PrimitiveValueListNode',
  'ReferenceNode',
  'IdentifierNode',
]);

function isInsert(node: object): node is InsertQueryNode {
  return (node as Partial<OperationNode>).kind === 'InsertQueryNode';
}

function keysOf(into: TableNode | AliasNode | undefined, tables: Tables): [string, NewId][] {
  const table = (into !== undefined && 'alias' in into ? (into.node as TableNode) : into)?.table;
  if (table === undefined) return [];
  const { schema, identifier } = table;
  const qualified = schema === undefined ? undefined : tables.get(`${schema.name}.${identifier.name}`);
  return [...(qualified ?? tables.get(identifier.name) ?? [])];
}

type Row = ValuesNode['values'][number];

/** Returns undefined where a query brings the rows. */
function rowsOf({ values, defaultValues }: InsertQueryNode): readonly Row[] | undefined {
  if (defaultValues === true) return [{ kind: 'PrimitiveValueListNode', values: [] }];
  return values?.kind === 'ValuesNode' ? (values as ValuesNode).values : undefined;
}

function placeOf(column: string, { columns = [] }: InsertQueryNode): number {
  return columns.findIndex((each) => isSame(each, column));
}

/** Upper and lower case are one to MySQL, and to SQLite, which takes a column twice and heeds the first value. */
function isSame(node: Partial<ColumnNode>, column: string): boolean {
  return node.column?.name.toLowerCase() === column.toLowerCase();
}

function filled(insert: InsertQueryNode, [column, newId]: [string, NewId]): InsertQueryNode {
  const { columns = [], replace, orAction, onConflict, onDuplicateKey } = insert;
  const at = placeOf(column, insert);
  const rows = rowsOf(insert);
  if (rows === undefined) {
    if (at >= 0) return insert;
    throw refusal('select', newId);
  }
  if (at >= 0 && !rows.some((row) => isMissing(row.values[at]))) return insert;
  if (replace === true || /^replace$/i.test(orAction?.action ?? '')) throw refusal('replace', newId);
  const updates = [...(onConflict?.updates ?? []), ...(onDuplicateKey?.updates ?? [])];
  if (updates.some((update) => takesNewId(update, column))) throw refusal('key-update', newId);

  const name = { kind: 'ColumnNode', column: { kind: 'IdentifierNode', name: column } } as const;
  const values = { kind: 'ValuesNode', values: rows.map((row) => filledRow(row, at, newId)) };
  return { ...insert, defaultValues: false, columns: at < 0 ? [...columns, name] : columns, values } as InsertQueryNode;
}

/** @param at the place of the key; -1 where no row has one: it is appended */
function filledRow(row: Row, at: number, newId: NewId): Row {
  const place = at < 0 ? row.values.length : at;
  if (place > row.values.length || !isMissing(row.values[place])) return row;
  const values: unknown[] = [...row.values];
  values[place] = row.kind === 'PrimitiveValueListNode' ? newId : { kind: 'ValueNode', value: newId };
  return { kind: row.kind, values } as Row;
}

/** Of a row with the key left out among rows that have it; of undefined and null. */
function isMissing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  const { kind, value: inner } = value as { kind?: unknown; value?: unknown };
  return kind === 'DefaultInsertValueNode' || (kind === 'ValueNode' && (inner === undefined || inner === null));
}

/** Whether an upsert may write the ID of the row that was not inserted: `id = excluded.id`, `id = values(id)`. */
function takesNewId({ column, value }: ColumnUpdateNode, key: string): boolean {
  return isSame(column as Partial<ColumnNode>, key) && namesNewRow(value);
}

/** Looks into all of an expression, also into SQL: the names of tables and functions are texts of its nodes. */
function namesNewRow(part: unknown): boolean {
  if (typeof part === 'string') return /\b(excluded|values)\b/i.test(part);
  if (!isObject(part)) return false;
  const { kind } = part as Partial<OperationNode>;
  const isValue = kind === 'ValueNode' || kind === 'PrimitiveValueListNode';
  return !isValue && Object.values(part).some(namesNewRow);
}

function refuseMerge({ into, whens = [] }: MergeQueryNode, tables: Tables): void {
  const inserts = whens.flatMap(({ result }) => (result !== undefined && isInsert(result) ? [result] : []));
  for (const [column, newId] of keysOf(into, tables)) {
    for (const insert of inserts) {
      const at = placeOf(column, insert);
      if (at < 0 || rowsOf(insert)?.some((row) => isMissing(row.values[at]))) throw refusal('merge', newId);
    }
  }
}

const WAY_OUT: Readonly<Partial<Record<InsertRefusal, string>>> = {
  select:
    'has no ID in an insert whose rows come from a query. Select the rows first and insert them with values(), or let ' +
    'the query select the IDs of the new rows, too, and name the column.',
  merge:
    'has no ID in the insert of a MERGE, whose one parameter would be the ID of every new row. Give each row of the source ' +
    'its ID and insert that one, or use insertInto().onConflict().',
  replace:
    'has no ID in a REPLACE, which would give an existing row a new one. Pass the ID of the row, or use ' +
    'onConflict() or onDuplicateKeyUpdate().',
  'key-update':
    'is updated by this upsert: an existing row would get the ID of the one that was not inserted, and what refers to it ' +
    'would be lost. Leave the column out of the update.',
  unfilled:
    'has no ID: the query was compiled by a dialect withSnowflakes() and run by another driver. Run it by ' +
    'db.executeQuery(), or pass the IDs as values.',
};

function refusal(why: keyof typeof WAY_OUT, { keys }: NewId): InsertRefusedError {
  return new InsertRefusedError(keys.place, why, WAY_OUT[why]!);
}

// The connection: an ID is taken when the query is sent, each time.

/** The drivers that fill, with the names of the keys whose digits they watch: a dialect may hand one out twice. */
const WATCHED = new WeakMap<Driver, Set<string>>();

function fillingDriver(dialect: Dialect, names: readonly string[]): Driver {
  const driver = dialect.createDriver();
  const watched = WATCHED.get(driver) ?? new Set();
  for (const name of names) watched.add(name);
  if (WATCHED.has(driver)) return driver;
  WATCHED.set(driver, watched);
  const tellsKeys = !dialect.createAdapter().supportsReturning;
  const connections = new WeakSet<DatabaseConnection>();
  const acquire = driver.acquireConnection.bind(driver);
  driver.acquireConnection = async (options) => {
    const connection = await acquire(options);
    if (!connections.has(connection)) fill(connection, watched, tellsKeys);
    connections.add(connection);
    return connection;
  };
  return driver;
}

type Options = Parameters<DatabaseConnection['executeQuery']>[1];

/**
 * As Kysely itself does where it logs queries: drivers know their connections again, so these cannot be wrapped.
 * @param tellsKeys whether the database has no `returning`, and tells a key that it makes as `insertId`
 */
function fill(connection: DatabaseConnection, watched: ReadonlySet<string>, tellsKeys: boolean): void {
  const execute = connection.executeQuery.bind(connection);
  const stream = connection.streamQuery.bind(connection);
  connection.executeQuery = async <R>(query: CompiledQuery, options?: Options) => {
    const sent = await withIds(query, options);
    const result = exact(await execute<R>(sent, options), watched);
    return sent === query ? result : { ...result, insertId: insertIdOf(result, query, sent, tellsKeys) };
  };
  connection.streamQuery = async function* <R>(query: CompiledQuery, size: number, options?: Options) {
    const sent = await withIds(query, options);
    for await (const result of stream<R>(sent, size, options)) yield exact(result, watched);
  };
}

/**
 * Throws what the service throws, unless it helps to wait: a connection can. A query that was aborted meanwhile is not
 * sent: Kysely could not cancel it any more.
 */
async function withIds(query: CompiledQuery, options: Options): Promise<CompiledQuery> {
  const places = new Map<Keys, number[]>();
  for (let index = 0; index < query.parameters.length; index++) {
    const each = query.parameters[index];
    if (!isNewId(each)) continue;
    const its = places.get(each.keys);
    if (its === undefined) places.set(each.keys, [index]);
    else its.push(index);
  }
  if (places.size === 0) return query;
  const parameters = query.parameters.slice();
  for (const [keys, its] of places) {
    const ids = await keys.takeWaiting(its.length);
    for (let index = 0; index < ids.length; index++) parameters[its[index]!] = ids[index];
  }
  options?.signal?.throwIfAborted();
  return { ...query, parameters };
}

/** @throws UnsafeSnowflakeError where the driver gave a key as a number that has lost digits */
function exact<R>(result: QueryResult<R>, watched: ReadonlySet<string>): QueryResult<R> {
  for (const row of result.rows as Record<string, unknown>[]) {
    for (const name of watched) {
      const value = row[name];
      if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
        throw new UnsafeSnowflakeError(name, value, 'database');
      }
    }
  }
  return result;
}

/**
 * A key that MySQL made stays, such as that of `id auto_increment` with a public ID of ours in its row. Else a single row
 * that was certainly inserted has our ID. The `insertId` of SQLite is the row's number, or has lost digits.
 */
function insertIdOf(
  { insertId, numAffectedRows }: QueryResult<unknown>,
  { query, parameters }: CompiledQuery,
  sent: CompiledQuery,
  tellsKeys: boolean,
): bigint | undefined {
  const isOne = numAffectedRows === 1n && insertsOne(query);
  const made = tellsKeys && insertId !== undefined && insertId <= Number.MAX_SAFE_INTEGER ? insertId : undefined;
  if (!isOne && made === undefined) return undefined;
  const ids = sent.parameters.filter((_, index) => isNewId(parameters[index]));
  if (made !== undefined && !ids.some((id) => Number(id) === Number(made))) return made;
  return isOne && ids.length === 1 && /^\d+$/.test(String(ids[0])) ? BigInt(ids[0] as string) : undefined;
}

/** Whether a query inserts one row or none, and an ID of ours is all that this row has of keys. */
function insertsOne(query: OperationNode): boolean {
  if (!isInsert(query) || query.onConflict?.updates || query.onDuplicateKey || query.endModifiers) return false;
  const [row, ...others] = rowsOf(query) ?? [];
  const newId = row?.values.map((each) => (isObject(each) && 'value' in each ? each.value : each)).find(isNewId);
  return others.length === 0 && newId?.isOnlyKey === true;
}
