import { ConfigurationError, type WorkerRange } from '@raindrop/core';
import { databaseIdSql, type DatabaseIdOptions, type SnowflakeModuleOptions, type WorkerView } from '@raindrop/node';
import {
  callOf,
  DEFAULT_ID_FUNCTION,
  type Dialect,
  type Family,
  OwnDatabase,
  parseTableName,
  type ResolvedSnowflakeOptions,
} from '@raindrop/node/internal';
import { CommandFailedError, InputError } from '../input-error.js';
import { FUNCTION_FLAGS } from '../options/function-flags.js';
import type { FlagValues } from '../options/module-options.js';
import { viewWorkers } from './open-workers.js';

/** The reason why a database makes no IDs itself; none for PostgreSQL. */
const WHY_NOT: Readonly<Record<Family, string | undefined>> = {
  postgres: undefined,
  mysql:
    'MySQL has no sequences, SETVAL of MariaDB takes only literals inside functions, and a row that counts stays locked ' +
    'until the transaction ends',
  sqlite: 'SQLite has no functions in SQL',
};

/** The function that a command makes. */
export interface IssuingFunction {
  /** Its call, as a DEFAULT has it. */
  readonly function: string;
  readonly workerId: number;
  /** One statement that installs it. */
  readonly sql: string;
}

/** @throws InputError for a database that makes no IDs itself */
export function requireMakesIds(wanted: string, { family }: Dialect): void {
  const reason = WHY_NOT[family];
  if (reason !== undefined) throw new InputError(`${wanted}: only PostgreSQL makes IDs itself. ${reason}`);
}

/**
 * Writes the function that the flags ask for. Without `--worker` the worker table says which worker id it gets: that of the
 * function of this name, else the highest one of the range that was never used, else the highest one that is free.
 * @param options with a layout
 * @throws InputError for flags that are out of their range, and names that several functions have; CommandFailedError where
 * no worker id is free, or there is no worker table
 */
export async function issuingFunction(
  options: SnowflakeModuleOptions,
  resolved: ResolvedSnowflakeOptions,
  flags: FlagValues,
): Promise<IssuingFunction> {
  const { workers } = resolved.layout;
  const given = optionsOf(flags);
  const asksTable = options.dbConfig !== undefined && given.workerId === undefined;
  const chosen = asksTable
    ? chosenBy((await viewWorkers(options, resolved)).workers, resolved, given)
    : { workerId: given.workerId ?? workers.max };
  return writtenFunction(options, resolved, { ...given, ...chosen });
}

/** Writes the function as the flags say, with the highest worker id of the range where they name none. */
export function issuingFunctionOfFlags(
  options: SnowflakeModuleOptions,
  resolved: ResolvedSnowflakeOptions,
  flags: FlagValues,
): IssuingFunction {
  return writtenFunction(options, resolved, { workerId: resolved.layout.workers.max, ...optionsOf(flags) });
}

/** Installs a function. @throws DatabaseCallError with the database's reason */
export async function installFunction({ dbConfig, lease }: ResolvedSnowflakeOptions, sql: string): Promise<void> {
  const { opTimeoutMs } = lease;
  const own = new OwnDatabase(dbConfig!, { opTimeoutMs, statementTimeoutMs: 10 * opTimeoutMs });
  try {
    await own.call(async (run) => {
      // Servers, databases and roles may have another default, which the statement refuses.
      await run("SET default_transaction_isolation TO 'read committed'");
      await run(sql);
    });
  } finally {
    await own.close();
  }
}

function writtenFunction(
  options: SnowflakeModuleOptions,
  { dbConfig }: ResolvedSnowflakeOptions,
  given: DatabaseIdOptions & { readonly workerId: number },
): IssuingFunction {
  try {
    const sql = databaseIdSql(options, given);
    const { name = DEFAULT_ID_FUNCTION, workerId } = given;
    return { function: callOf(parseTableName(name, dbConfig?.schema)), workerId, sql };
  } catch (error) {
    throw error instanceof ConfigurationError ? (inFlags(error, given) ?? error) : error;
  }
}

/** The error in the words of the command line; undefined where it is not about a flag of the function. */
function inFlags({ problems: [problem] }: ConfigurationError, given: DatabaseIdOptions): InputError | undefined {
  const { option, message } = problem!;
  if (!Object.hasOwn(FUNCTION_FLAGS, option)) return undefined;
  const name = option as keyof typeof FUNCTION_FLAGS;
  return new InputError(`--${FUNCTION_FLAGS[name]} ${String(given[name])}: ${message}`);
}

function optionsOf(flags: FlagValues): DatabaseIdOptions {
  const [name, worker, grantTo] = [flags['name'], flags['worker'], flags['grant']] as [string?, string?, string[]?];
  if (grantTo?.includes('')) throw new InputError('--grant must be a role, such as app, or public for all');
  return {
    ...(name !== undefined && { name }),
    // What is no number stays a text, for the reader to refuse.
    ...(worker !== undefined && { workerId: (/^\d{1,9}$/.test(worker) ? Number(worker) : worker) as number }),
    ...(grantTo !== undefined && { grantTo }),
  };
}

/** The worker id, and where the function is there its whole name. */
function chosenBy(
  workers: readonly WorkerView[],
  { layout: { workers: range }, dbConfig, tableName }: ResolvedSnowflakeOptions,
  { name: text = DEFAULT_ID_FUNCTION }: DatabaseIdOptions,
): { readonly workerId: number; readonly name?: string } {
  const [installed, ...others] = workers.filter(
    ({ state, holder }) => state === 'database' && isNamed(holder, text, dbConfig?.schema),
  );
  if (others.length > 0) {
    const names = [installed!, ...others].map(({ holder }) => holder);
    throw new InputError(`which function? Give --name with its schema: ${names.sort().join(', ')}`);
  }
  if (installed !== undefined) return { workerId: installed.workerId, name: installed.holder };
  return { workerId: highestFree(workers, range, tableName) };
}

/** Whether a function has the name that was given, which may leave out the schema. */
function isNamed(holder: string, text: string, defaultSchema: string | undefined): boolean {
  const suffix = text.includes('.') || defaultSchema === undefined ? text : `${defaultSchema}.${text}`;
  return holder === suffix || (!suffix.includes('.') && holder.endsWith(`.${suffix}`));
}

function highestFree(workers: readonly WorkerView[], { min, max }: WorkerRange, tableName: string): number {
  if (min === max) {
    throw new InputError(`worker ${min} is the only one of the range, and services need one: give another, --worker`);
  }
  const states = new Map(workers.map((each) => [each.workerId, each]));
  // Of a row that is missing no process has had the worker id.
  for (let id = max; id >= min; id--) {
    const row = states.get(id);
    if (row === undefined || (row.state === 'free' && row.heartbeat === null)) return id;
  }
  const free = workers.filter(({ workerId, state }) => state === 'free' && workerId >= min && workerId <= max).at(-1);
  if (free !== undefined) return free.workerId;
  throw new CommandFailedError(
    `no worker id from ${min} to ${max} is free in ${tableName}: widen the range, or give a worker id outside it, --worker`,
  );
}
