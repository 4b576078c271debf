import type { WorkerStore } from '@raindrop/core';
import { readWorkers, type SnowflakeModuleOptions, type WorkersView } from '@raindrop/node';
import { databaseSettingsOf } from '@raindrop/node';
import { openWorkerStore, resolveSnowflakeOptions, type ResolvedSnowflakeOptions } from '@raindrop/node/internal';
import { CommandFailedError, InputError } from '../input-error.js';
import { usesDatabase } from './assigners.js';
import { isMissingTable } from './missing-table.js';

/**
 * Options that name a database, or another place that keeps worker ids.
 * @throws InputError, ConfigurationError
 */
export function resolveWorkers(options: SnowflakeModuleOptions, nowMs = Date.now()): ResolvedSnowflakeOptions {
  const resolved = resolveSnowflakeOptions(options, nowMs);
  if (options.dbConfig === undefined && usesDatabase(resolved)) {
    throw new InputError('which database? Give --url or DATABASE_URL');
  }
  return resolved;
}

/**
 * SQLite makes a file of every name that is mistyped. Not where something is only looked at; other drivers do not know
 * the option.
 */
export function onExistingFile(options: SnowflakeModuleOptions): SnowflakeModuleOptions {
  const settings = databaseSettingsOf(options.dbConfig);
  if (settings?.type !== 'better-sqlite3') return options;
  return { ...options, dbConfig: { ...settings, extra: { ...settings.extra, fileMustExist: true } } };
}

/**
 * Does the work with the store of worker rows, and closes it whatever happens.
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
    return await explained(options, work(store));
  } finally {
    await store.close();
  }
}

/** The workers of a table. @throws CommandFailedError when there is no such table */
export function viewWorkers(given: SnowflakeModuleOptions, resolved: ResolvedSnowflakeOptions): Promise<WorkersView> {
  return explained(resolved, readWorkers(onExistingFile(given)));
}

/**
 * Whether there is an answer, by one try: a start of a service tries for most of a minute. The table may be missing.
 * @throws DatabaseCallError, DatabaseRefusedError
 */
export async function requireReachable(
  given: SnowflakeModuleOptions,
  resolved: ResolvedSnowflakeOptions,
): Promise<void> {
  if (!usesDatabase(resolved)) return;
  try {
    await withWorkers(resolveWorkers(onExistingFile(given)), (store) => store.readTable());
  } catch (error) {
    if (!(error instanceof CommandFailedError)) throw error;
  }
}

/** @throws CommandFailedError in place of an error that says that the worker table is not there */
export async function explained<T>({ tableName }: ResolvedSnowflakeOptions, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isMissingTable(error)) throw error;
    throw new CommandFailedError(`${tableName} is not there, or lacks columns: run raindrop init`);
  }
}
