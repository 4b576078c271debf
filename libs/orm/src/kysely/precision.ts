/** Precision: the largest ID, sent through the application's own connection. */

import { ConfigurationError } from '@raindrop/core';
import { MAX_ID } from '@raindrop/core/internal';
import { hasDigitsOf, type PrecisionReport } from '@raindrop/node/internal';
import type { CompiledQuery, DatabaseConnection, DialectAdapter, Driver, QueryResult, TableNode } from 'kysely';
import { type Database, DATABASES } from '../databases.js';
import type { Keys } from '../ids.js';
import {
  fillerWarnings,
  firstOf,
  isBigint,
  literalOf,
  type PlacedKey,
  type PrecisionOptions,
  RoundedIdsError,
  type SampledKey,
  samplesOf,
  selectOf,
  shown,
  typedInBigint,
} from '../precision.js';
import { isObject, keysOf, type NewId, type Tables } from './columns.js';
import { LEAVES } from './compiler.js';

/** A Kysely. Kysely's own types differ between its ES and CommonJS builds, so they are not named here. */
export interface KyselyLike {
  /** Returns what sends the queries. */
  getExecutor(): unknown;
  /** Sends a query. */
  executeQuery(query: never): Promise<unknown>;
}

/**
 * Sends the largest ID of the keys through the application's own connection and plugins, and compares the result. The
 * dialect checks its first connection by itself. This function also returns warnings, and tells the result before the first
 * query. It checks the keys that are a `bigint` in the database at this moment.
 * @returns the exact keys, a warning for each key whose digits JSON of a query loses (`jsonArrayFrom()`, `json_agg`), and
 * one for each key that the database still fills
 * @throws RoundedIdsError if digits are lost, with the settings that may cause it; NoOpenServiceError if the keys' service
 * is not open; ConfigurationError for a dialect without `withSnowflakes()`, and for typed IDs in a `bigint` column; Kysely's
 * error if the database does not answer
 */
export async function checkPrecision(db: KyselyLike, options: PrecisionOptions = {}): Promise<PrecisionReport> {
  const { adapter } = db.getExecutor() as { adapter: DialectAdapter };
  const tables = TABLES.get(adapter);
  if (tables === undefined) {
    const message = 'has a dialect without IDs: new Kysely({ dialect: withSnowflakes(dialect, { ... }) })';
    throw new ConfigurationError([{ option: 'db', given: 'a Kysely', message }]);
  }
  const exact: string[] = [];
  const warnings: string[] = [];
  const database = databaseOf(adapter);
  const run: Run = (query) => db.executeQuery(query as never) as Promise<QueryResult<object>>;
  for (const key of database === undefined ? [] : typedKeys(tables)) {
    if ((await isStoredAsBigint(key, database!, run)) === true) throw refusedPrefix(key);
  }
  for (const sample of database === undefined ? [] : samplesOf(storedKeys(tables), options)) {
    const received = await valueOf(run, literalOf(sample));
    const json = firstOf(await valueOf(run, `${DATABASES[database!].jsonArray}(${literalOf(sample)})`));
    for (const key of sample.keys) {
      if ((await isStoredAsBigint(key, database!, run)) !== true) continue;
      const { place } = key.source;
      if (!hasDigitsOf(sample.id, received)) throw rounded(place, sample.id, received, database!);
      exact.push(place);
      if (hasDigitsOf(sample.id, json)) continue;
      warnings.push(
        `${place}: JSON of a query, such as jsonArrayFrom(), returns ${shown(json)} for the ID ${sample.id}. Cast the ID to ` +
          'text inside: docs/kysely.md',
      );
    }
  }
  if (database !== undefined) warnings.push(...(await warningsOf(tables, database, run)));
  return { exact, warnings };
}

function warningsOf(tables: Tables, database: Database, run: Run): Promise<string[]> {
  return fillerWarnings(placedKeys(tables), database, (expressions) => valuesOf(run, selectOf(expressions)));
}

/** A Kysely shows its adapter, but not its dialect. */
const TABLES = new WeakMap<DialectAdapter, Tables>();

export function withTables(adapter: DialectAdapter, tables: Tables): DialectAdapter {
  TABLES.set(adapter, tables);
  return adapter;
}

// The automatic check.

/** A server that does not understand the query would otherwise be asked before every query. */
const FAILED_LOOKS = 10;

/**
 * Checks once whether IDs keep their digits, on a connection that Kysely has acquired and not used yet: no transaction is
 * open that a failed check could abort. If digits are lost, every query of a table with such a key is refused. A key that
 * the database still fills is a warning of the process. Queries of a table whose typed IDs have a `bigint` column are refused.
 *
 * Until there is a verdict, each acquired connection is checked by itself, so that a connection which hangs or dies delays
 * no other query. A failed check is no verdict.
 */
export function lookingDriver(driver: Driver, adapter: DialectAdapter, tables: Tables): Driver {
  const database = databaseOf(adapter);
  if (database === undefined) return driver;
  const look = new Look(database, tables);
  const connections = new WeakSet<DatabaseConnection>();
  const acquire = driver.acquireConnection.bind(driver);
  driver.acquireConnection = async (...options) => {
    const connection = await acquire(...options);
    if (!connections.has(connection)) refuseRounded(connection, look);
    connections.add(connection);
    await look.at(connection);
    return connection;
  };
  return driver;
}

type AfterQuery = Parameters<DatabaseConnection['executeQuery']> extends [unknown, ...infer Rest] ? Rest : [];

function refuseRounded(connection: DatabaseConnection, look: Look): void {
  const execute = connection.executeQuery.bind(connection);
  const stream = connection.streamQuery.bind(connection);
  connection.executeQuery = <R>(query: CompiledQuery, ...rest: AfterQuery) => {
    const error = look.refusalOf(query);
    return error === undefined ? execute<R>(query, ...rest) : Promise.reject(error);
  };
  connection.streamQuery = async function* <R>(query: CompiledQuery, ...rest: [size: number, ...AfterQuery]) {
    const error = look.refusalOf(query);
    if (error !== undefined) throw error;
    yield* stream<R>(query, ...rest);
  };
}

class Look {
  /** The keys without a verdict. */
  private pending: readonly StoredKey[];
  private isRounding = false;
  private failed = 0;
  /** Whether the database was asked what fills the keys. */
  private isAsked = false;
  /** The keys of typed IDs whose column is not known yet. */
  private typed: readonly StoredKey[];
  private readonly refused = new Map<NewId, () => Refusal>();

  constructor(
    private readonly database: Database,
    private readonly tables: Tables,
  ) {
    this.pending = storedKeys(tables);
    this.typed = typedKeys(tables);
  }

  /** Never throws. */
  async at(connection: DatabaseConnection): Promise<void> {
    if (this.pending.length === 0 && this.typed.length === 0) return;
    const run: Run = (query) => connection.executeQuery(query);
    try {
      await this.judgeTyped(run);
      if (this.pending.length > 0) await this.judge(run);
    } catch {
      if (++this.failed === FAILED_LOOKS) [this.pending, this.typed] = [[], []];
    }
  }

  private async judgeTyped(run: Run): Promise<void> {
    for (const key of this.typed) {
      const isWrong = await isStoredAsBigint(key, this.database, run);
      if (isWrong === true) this.refused.set(key.newId, () => refusedPrefix(key));
      // A migration may make its table later.
      if (isWrong !== undefined) this.typed = this.typed.filter((each) => each !== key);
    }
  }

  private async judge(run: Run): Promise<void> {
    // A connection that keeps 63 bits keeps the IDs of every layout. This check needs neither a service nor a table.
    const isExact = !this.isRounding && hasDigitsOf(MAX_ID, await valueOf(run, String(MAX_ID)));
    if (isExact) this.pending = [];
    await this.warn(run);
    if (isExact) return;
    this.isRounding = true;
    for (const { id, keys } of samplesOf(this.pending.filter(isServed), {})) {
      const received = await valueOf(run, String(id));
      for (const key of keys) {
        const isRounded = hasDigitsOf(id, received) ? false : await isStoredAsBigint(key, this.database, run);
        if (isRounded) this.refused.set(key.newId, () => rounded(key.source.place, id, received, this.database));
        else this.refused.delete(key.newId);
        // A migration may make its table later, or its column a text.
        if (isRounded === false) this.pending = this.pending.filter((each) => each !== key);
      }
    }
  }

  private async warn(run: Run): Promise<void> {
    if (this.isAsked) return;
    this.isAsked = true;
    for (const each of await warningsOf(this.tables, this.database, run)) process.emitWarning(each, 'RaindropWarning');
  }

  /** Raw SQL and changes of the schema are not refused. */
  refusalOf({ query }: CompiledQuery): Refusal | undefined {
    return this.refused.size === 0 || !QUERIES.has(query.kind) ? undefined : this.refusalIn(query);
  }

  private refusalIn(node: object): Refusal | undefined {
    const { kind } = node as Partial<TableNode>;
    if (kind === 'TableNode') {
      const newId = keysOf(node as TableNode, this.tables).find(([, each]) => this.refused.has(each))?.[1];
      return newId && this.refused.get(newId)!();
    }
    if (!Array.isArray(node) && LEAVES.has(kind)) return undefined;
    for (const each of Object.values(node)) {
      const error = isObject(each) ? this.refusalIn(each) : undefined;
      if (error !== undefined) return error;
    }
    return undefined;
  }
}

type Refusal = RoundedIdsError | ConfigurationError;

/** The queries that read or write rows. */
const QUERIES = new Set(['Select', 'Insert', 'Update', 'Delete', 'Merge'].map((kind) => `${kind}QueryNode`));

function isServed({ source }: StoredKey): boolean {
  try {
    source.largest();
    return true;
  } catch {
    // The service is opened later.
    return false;
  }
}

/** A key that the database may keep as a number. */
interface StoredKey extends SampledKey {
  readonly source: Keys;
  readonly newId: NewId;
  readonly table: string;
  readonly column: string;
}

/** Typed IDs are texts in the database. */
function storedKeys(tables: Tables): StoredKey[] {
  return allKeys(tables).filter(({ source }) => source.form.prefix === undefined);
}

function typedKeys(tables: Tables): StoredKey[] {
  return allKeys(tables).filter(({ source }) => source.form.prefix !== undefined);
}

function allKeys(tables: Tables): StoredKey[] {
  return [...tables].flatMap(([table, newIds]) =>
    [...newIds].map(([column, newId]) => ({ table, column, newId, source: newId.keys, isText: false })),
  );
}

function refusedPrefix({ source }: StoredKey): ConfigurationError {
  return typedInBigint(source.place, source.form.prefix!);
}

/** A dialect of Kysely hides its pool, so the error names the settings that may round. */
function rounded(place: string, id: bigint, received: unknown, database: Database): RoundedIdsError {
  return new RoundedIdsError(place, 'column', String(id), received, DATABASES[database].cureOf(undefined));
}

type Run = (query: CompiledQuery<object>) => Promise<QueryResult<object>>;

async function valueOf(run: Run, expression: string): Promise<unknown> {
  return (await valuesOf(run, `select ${expression} as raindrop`))[0];
}

/** Plugins may rename the columns. */
async function valuesOf(run: Run, sql: string): Promise<unknown[]> {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
  const compiled = { sql, parameters: [], query, queryId: { queryId: 'precision' } };
  const { rows } = await run(compiled as unknown as CompiledQuery<object>);
  return Object.values(rows[0]!) as unknown[];
}

/** @throws ConfigurationError for `databaseDefault` on a database that has no such function, and with typed IDs */
export function refuseDefaults(createAdapter: () => DialectAdapter, tables: Tables): void {
  const declaring = allKeys(tables).filter(({ source }) => source.databaseDefault !== undefined);
  if (declaring.length === 0) return;
  const database = databaseOf(createAdapter());
  for (const { source } of declaring) {
    source.refuseTypedDefault();
    if (database !== undefined) source.defaultOn(database);
  }
}

/** Tells the database by the abilities of the dialect, because third parties have adapters of their own. */
function databaseOf(adapter: DialectAdapter): Database | undefined {
  if (adapter.supportsOutput === true) return undefined;
  if (adapter.supportsReturning !== true) return 'mysql';
  return adapter.supportsTransactionalDdl ? 'postgres' : 'sqlite';
}

/** Settings for integers do not affect a text key. */
function isStoredAsBigint(
  { source, table, column }: StoredKey,
  database: Database,
  run: Run,
): Promise<boolean | undefined> {
  return isBigint(placed(source, table, column), database, (expression) => valueOf(run, expression));
}

/** A table may have the name of its schema before it. */
function placed({ place, databaseDefault }: Keys, path: string, column: string): PlacedKey {
  const at = path.indexOf('.');
  const [schema, table] = at < 0 ? [undefined, path] : [path.slice(0, at), path.slice(at + 1)];
  return { place, databaseDefault, schema, table, column };
}

function placedKeys(tables: Tables): PlacedKey[] {
  return [...tables].flatMap(([table, newIds]) => [...newIds].map(([column, { keys }]) => placed(keys, table, column)));
}
