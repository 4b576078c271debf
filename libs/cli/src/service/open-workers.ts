import type { Layout, WorkerStore } from '@raindrop/core';
import { chooseLayout, DEFAULT_LAYOUT } from '@raindrop/core/internal';
import {
  DatabaseCallError,
  databaseSettingsOf,
  readWorkers,
  type SnowflakeModuleOptions,
  type WorkersView,
} from '@raindrop/node';
import {
  isFileDatabase,
  kindOf,
  nameOfUse,
  openWorkerStore,
  type ResolvedSnowflakeOptions,
  resolveSnowflakeOptions,
  saysGoneAnywhere,
} from '@raindrop/node/internal';
import { CommandFailedError, InputError } from '../input-error.js';
import { layoutToRead, namesLayout } from '../options/module-options.js';

/** The driver's code for the missing file of {@link withExistingFile}. */
const NO_FILE = 'SQLITE_CANTOPEN';

/**
 * Checks options, which must name a database or another store of worker ids.
 * @throws InputError when they name none; ConfigurationError
 */
export function resolveWorkers(options: SnowflakeModuleOptions, nowMs = Date.now()): ResolvedSnowflakeOptions {
  const resolved = resolveSnowflakeOptions(options, nowMs);
  if (options.dbConfig === undefined && usesDatabase(resolved)) {
    throw new InputError('no database given: use --url or set DATABASE_URL');
  }
  return resolved;
}

/**
 * Makes SQLite refuse a file that does not exist: it would create one of a mistyped name, though the command only
 * reads. Other drivers do not know the option.
 */
export function withExistingFile(options: SnowflakeModuleOptions): SnowflakeModuleOptions {
  const settings = databaseSettingsOf(options.dbConfig);
  if (settings === undefined || !isFileDatabase(settings.type)) return options;
  return { ...options, dbConfig: { ...settings, extra: { ...settings.extra, fileMustExist: true } } };
}

/**
 * Does the work with the store of worker rows, then closes the store, also when the work fails.
 * @param statementTimeoutMs how long the database may take to answer a statement
 * @throws CommandFailedError when there is no such table; DatabaseCallError
 */
export async function withWorkers<T>(
  options: ResolvedSnowflakeOptions,
  work: (store: WorkerStore) => Promise<T>,
  statementTimeoutMs = options.lease.opTimeoutMs,
): Promise<T> {
  const store = openWorkerStore(options, undefined, Date.now, statementTimeoutMs);
  try {
    return await explainMissingTable(options, work(store));
  } finally {
    await store.close();
  }
}

/**
 * The layout that the command means: the one that is named, else the one that the worker table remembers, else the
 * default, which a service without options takes.
 * @param what the command, for an error
 * @throws InputError when worker ids do not come from rows of a database; CommandFailedError when there is no such table
 */
export async function layoutMeant(what: string, options: SnowflakeModuleOptions): Promise<Layout> {
  if (namesLayout(options)) return layoutToRead(options);
  if (options.dbConfig === undefined && options.workerIdAssigner === undefined) return DEFAULT_LAYOUT;
  const workers = resolveWorkers(withExistingFile(options));
  requireRows(what, workers);
  const table = await withWorkers(workers, (store) => store.readTable());
  return chooseLayout(table, DEFAULT_LAYOUT, workers.lease).layout;
}

/** Reads the workers of a table. @throws CommandFailedError when there is no such table */
export function viewWorkers(given: SnowflakeModuleOptions, resolved: ResolvedSnowflakeOptions): Promise<WorkersView> {
  return explainMissingTable(resolved, readWorkers(withExistingFile(given)));
}

/**
 * Asks the database once, so that one that cannot be reached is an error at once: the start of a service would try for
 * most of a minute. The table may be missing.
 * @throws DatabaseCallError, DatabaseRefusedError
 */
export async function requireReachable(
  given: SnowflakeModuleOptions,
  resolved: ResolvedSnowflakeOptions,
): Promise<void> {
  if (!usesDatabase(resolved)) return;
  try {
    await withWorkers(resolveWorkers(withExistingFile(given)), (store) => store.readTable());
  } catch (error) {
    if (!(error instanceof CommandFailedError)) throw error;
  }
}

/** Waits for the work. @throws CommandFailedError in place of the error of a missing worker table */
export async function explainMissingTable<T>({ tableName }: ResolvedSnowflakeOptions, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isMissingTable(error)) throw error;
    throw new CommandFailedError(`${tableName} does not exist, or lacks columns: run raindrop init`);
  }
}

/** The names of the assigners, in the order in which they are asked. */
function assignersOf({ assigner }: ResolvedSnowflakeOptions): string[] {
  return assigner.parts.map(({ use }) => nameOfUse(use));
}

/** Whether worker ids, or some of them, come from rows of a database. */
function usesDatabase(options: ResolvedSnowflakeOptions): boolean {
  return assignersOf(options).includes('database');
}

/** @throws InputError when worker ids do not come from rows of a database */
export function requireRows(command: string, options: ResolvedSnowflakeOptions): void {
  if (usesDatabase(options)) return;
  const names = assignersOf(options).join(', ');
  throw new InputError(`raindrop ${command} supports only workerIdAssigner: 'database'; the options name ${names}`);
}

/** @throws InputError when a running service, or the next call of the command, could issue the same IDs */
export function refuseUnreserved({ assigner }: ResolvedSnowflakeOptions): void {
  const unreserved = assigner.parts.find(({ use }) => typeof use === 'string' && kindOf(use).origin === 'assigned');
  if (unreserved !== undefined) throw mayRepeat(nameOfUse(unreserved.use));
}

/** The error for an assigner that reserves nothing. @param name the assigner's */
export function mayRepeat(name: string): InputError {
  return new InputError(
    `raindrop next does not use worker ids of '${name}': nothing reserves them, so a running service or the next call ` +
      `could issue the same IDs. Use workerIdAssigner: 'database', or a store such as redisWorkers() or etcdWorkers()`,
  );
}

/**
 * Whether a statement failed because the worker table is missing, or is that of the Go original, which lacks columns.
 */
export function isMissingTable(error: unknown): boolean {
  if (!(error instanceof DatabaseCallError)) return false;
  return error.driverCode === NO_FILE || saysGoneAnywhere(error.driverCode, error.reason);
}
