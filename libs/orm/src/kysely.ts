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
  FunctionNode,
  InsertQueryNode,
  MergeQueryNode,
  OperationNode,
  QueryCompiler,
  QueryResult,
  ReferenceNode,
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
  createDriver(): unknown;
  createQueryCompiler(): unknown;
  createAdapter(): unknown;
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
 * The compiler puts a {@link NewId} into the parameters of the query, the connection puts an ID in its place when it
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
  const names = [...new Set([...tables.values()].flatMap((columns) => [...columns.keys()]))];
  const outer: Dialect = {
    createQueryCompiler: () => fillingCompiler(inner.createQueryCompiler(), tables),
    createDriver: () => fillingDriver(inner.createDriver(), names),
    createAdapter: () => inner.createAdapter(),
    createIntrospector: (db) => inner.createIntrospector(db),
  };
  return outer;
}

/** Stands in the parameters of a compiled query for an ID of a column. Each place gets an ID of its own when it is sent. */
class NewId {
  constructor(readonly keys: Keys) {}

  /** For logs. */
  toJSON(): string {
    return `a new ID of ${this.keys.place}`;
  }

  /** Asked by pg where another driver than ours runs the compiled query. */
  toPostgres(): never {
    throw refusal('unfilled', this.keys);
  }

  /** Asked by mysql2 in the same case. better-sqlite3 refuses every object. */
  toSqlString(): never {
    throw refusal('unfilled', this.keys);
  }
}

/** The keys of each table, by the names of the table and of the column. */
type Tables = ReadonlyMap<string, ReadonlyMap<string, NewId>>;

function newIdsOf({ columns, ...shared }: SnowflakeColumns): Tables {
  const tables = Object.entries(isObject(columns) ? columns : {}).map(([table, given]) => {
    const keys: readonly (readonly [string, KeyOptions])[] = isList(given)
      ? given.map((column) => [column, {}])
      : Object.entries(given ?? {});
    const newIds = keys.map(([column, own]) => {
      return [column, new NewId(new Keys(`${table}.${column}`, { ...shared, ...own }))] as const;
    });
    return [table, new Map(newIds)] as const;
  });
  const empty = tables.find(([, newIds]) => newIds.size === 0);
  if (tables.length > 0 && empty === undefined) return new Map(tables);
  const message = `must say which columns get IDs${empty === undefined ? '' : ` in ${empty[0]}`}: { orders: ['id'] }`;
  throw new ConfigurationError([{ option: 'columns', given: JSON.stringify(columns), message }]);
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
  if (isInsert(node)) return filled(node, tables) as object as T;
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

function filled(insert: InsertQueryNode, tables: Tables): InsertQueryNode {
  return keysOf(insert.into, tables).reduce((node, [column, newId]) => filledColumn(node, column, newId), insert);
}

function filledColumn(insert: InsertQueryNode, column: string, newId: NewId): InsertQueryNode {
  const { columns = [], defaultValues = false } = insert;
  const at = columns.findIndex((each) => each.column.name === column);
  const given = defaultValues ? ONE_EMPTY_ROW : insert.values;
  if (given?.kind !== 'ValuesNode') {
    if (at >= 0) return insert;
    throw refusal('select', newId.keys);
  }
  const rows = (given as ValuesNode).values;
  if (at >= 0 && !rows.some((row) => isMissing(row.values[at]))) return insert;
  if (insert.replace === true || /^replace$/i.test(insert.orAction?.action ?? '')) throw refusal('replace', newId.keys);
  if (updatesOf(insert).some((update) => takesNewId(update, column))) throw refusal('key-update', newId.keys);

  const name = { kind: 'ColumnNode', column: { kind: 'IdentifierNode', name: column } } as const;
  const values = { kind: 'ValuesNode', values: rows.map((row) => filledRow(row, at, newId)) };
  return { ...insert, defaultValues: false, columns: at < 0 ? [...columns, name] : columns, values } as InsertQueryNode;
}

type Row = ValuesNode['values'][number];

/** @param at the place of the key; -1 where no row has one: it is appended */
function filledRow({ kind, values }: Row, at: number, newId: NewId): Row {
  const value = kind === 'PrimitiveValueListNode' ? newId : { kind: 'ValueNode', value: newId };
  if (at < 0) return { kind, values: [...values, value] } as Row;
  return {
    kind,
    values: isMissing(values[at]) ? values.map((each, index) => (index === at ? value : each)) : values,
  } as Row;
}

const ONE_EMPTY_ROW = {
  kind: 'ValuesNode',
  values: [{ kind: 'PrimitiveValueListNode', values: [] }],
} as unknown as ValuesNode;

/** Of a row with the key left out among rows that have it; of undefined and null. */
function isMissing(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  const { kind, value: inner } = value as { kind?: unknown; value?: unknown };
  return kind === 'DefaultInsertValueNode' || (kind === 'ValueNode' && (inner === undefined || inner === null));
}

function updatesOf({ onConflict, onDuplicateKey }: InsertQueryNode): readonly ColumnUpdateNode[] {
  return [...(onConflict?.updates ?? []), ...(onDuplicateKey?.updates ?? [])];
}

/** Whether an upsert writes the ID of the row that was not inserted: `id = excluded.id`, `id = values(id)`. */
function takesNewId({ column, value }: ColumnUpdateNode, key: string): boolean {
  if (nameOf(column) !== key) return false;
  const { func, arguments: args = [] } = value as Partial<FunctionNode>;
  if (func?.toLowerCase() === 'values') return args.some((each) => nameOf(each) === key);
  return nameOf(value) === key && (value as ReferenceNode).table?.table.identifier.name === 'excluded';
}

/** Returns the name of the column that a node stands for, if it does. */
function nameOf(node: OperationNode): string | undefined {
  const { column } = (node.kind === 'ReferenceNode' ? (node as ReferenceNode).column : node) as Partial<ColumnNode>;
  return column?.name;
}

function refuseMerge({ into, whens = [] }: MergeQueryNode, tables: Tables): void {
  const inserts = whens.flatMap(({ result }) => (result !== undefined && isInsert(result) ? [result] : []));
  for (const [column, { keys }] of keysOf(into, tables)) {
    for (const { columns = [], values } of inserts) {
      const at = columns.findIndex((each) => each.column.name === column);
      const rows = values?.kind === 'ValuesNode' ? (values as ValuesNode).values : [];
      if (at < 0 || rows.some((row) => isMissing(row.values[at]))) throw refusal('merge', keys);
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

function refusal(why: keyof typeof WAY_OUT, { place }: Keys): InsertRefusedError {
  return new InsertRefusedError(place, why, WAY_OUT[why]!);
}

// The connection: an ID is taken when the query is sent, each time.

function fillingDriver(driver: Driver, names: readonly string[]): Driver {
  const acquire = driver.acquireConnection.bind(driver);
  // As Kysely itself does where it logs queries: drivers know their connections again, so these cannot be wrapped.
  driver.acquireConnection = async (...options) => filling(await acquire(...options), names);
  return driver;
}

const FILLING = new WeakSet<DatabaseConnection>();

function filling(connection: DatabaseConnection, names: readonly string[]): DatabaseConnection {
  if (FILLING.has(connection)) return connection;
  FILLING.add(connection);
  const execute = connection.executeQuery.bind(connection);
  const stream = connection.streamQuery.bind(connection);
  connection.executeQuery = async <R>(query: CompiledQuery, ...options: Options) => {
    const sent = await withIds(query);
    const result = exact(await execute<R>(sent, ...options), names);
    return sent === query ? result : withInsertId(result, query, sent);
  };
  connection.streamQuery = async function* <R>(query: CompiledQuery, ...options: [size: number, ...Options]) {
    for await (const result of stream<R>(await withIds(query), ...options)) yield exact(result, names);
  };
  return connection;
}

type Options = Parameters<DatabaseConnection['executeQuery']> extends [unknown, ...infer Rest] ? Rest : [];

/** Throws what the service throws, unless it helps to wait: a connection can. */
async function withIds(query: CompiledQuery): Promise<CompiledQuery> {
  const places = new Map<Keys, number[]>();
  for (let index = 0; index < query.parameters.length; index++) {
    const each = query.parameters[index];
    if (!(each instanceof NewId)) continue;
    const its = places.get(each.keys);
    if (its === undefined) places.set(each.keys, [index]);
    else its.push(index);
  }
  if (places.size === 0) return query;
  const parameters = query.parameters.slice();
  for (const [keys, its] of places) {
    const ids = await taken(keys, its.length);
    for (let index = 0; index < ids.length; index++) parameters[its[index]!] = ids[index];
  }
  return { ...query, parameters };
}

async function taken(keys: Keys, count: number): Promise<readonly unknown[]> {
  try {
    return keys.take(count);
  } catch (error) {
    return keys.takeAfter(error, count);
  }
}

/** @throws UnsafeSnowflakeError where the driver gave a key as a number that has lost digits */
function exact<R>(result: QueryResult<R>, names: readonly string[]): QueryResult<R> {
  for (const row of result.rows as Record<string, unknown>[]) {
    for (const name of names) {
      const value = row[name];
      if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
        throw new UnsafeSnowflakeError(name, value, 'database');
      }
    }
  }
  return result;
}

/**
 * The `insertId` of a single row that was certainly inserted is its ID; else there is none: that of SQLite is the row's
 * number, or has lost digits, that of MySQL is 0.
 */
function withInsertId<R>(
  result: QueryResult<R>,
  { query, parameters }: CompiledQuery,
  sent: CompiledQuery,
): QueryResult<R> {
  const others = { ...result, insertId: undefined };
  if (!isInsert(query) || updatesOf(query).length > 0 || result.numAffectedRows !== 1n) return others;
  const places = parameters.flatMap((each, index) => (each instanceof NewId ? [index] : []));
  const id = sent.parameters[places[0]!];
  return places.length > 1 || (typeof id === 'string' && !/^\d+$/.test(id))
    ? others
    : { ...others, insertId: BigInt(id as string) };
}
