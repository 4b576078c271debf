import type { FailoverGuard, ServerVerdict, StoreTerm } from '@raindrop/core/internal';
import { DatabaseCallError, DatabaseRefusedError } from './database-errors.js';
import { type Dialect, execute, type Statement, type StatementResult } from './dialect.js';
import type { OwnDatabase } from './own-database.js';
import { REPLICA, ReplicaError, ServerHiddenError } from './server-term.js';

/** A text of no characters. */
const NOTHING = "''";

/**
 * Runs a statement that asks for the server's term, without it where the server can't tell.
 * @param mayMiss see OwnDatabase.call
 */
export async function askWithTerm(
  database: OwnDatabase,
  statement: (dialect: Dialect) => Statement,
  mayMiss = false,
): Promise<StatementResult> {
  const { dialect } = database;
  const run = (): Promise<StatementResult> =>
    database.call((each) => execute(each, statement(database.dialect)), mayMiss);
  try {
    return await run();
  } catch (error) {
    // The statement may want other things that are not there.
    if (lacksTerm(dialect, error) && dialect === database.dialect && (await cannotTellTerm(database))) {
      database.dialect = { ...dialect, term: NOTHING, termOfWrite: NOTHING, sessionAgeMs: '0' };
    }
    if (dialect === database.dialect) throw error;
    return run();
  }
}

function lacksTerm(dialect: Dialect, error: unknown): boolean {
  const isOurs = error instanceof DatabaseCallError || error instanceof DatabaseRefusedError;
  return isOurs && dialect.lacksTerm(error.driverCode);
}

/** Whether the server cannot even tell its term alone. */
async function cannotTellTerm(database: OwnDatabase): Promise<boolean> {
  const { term, sessionAgeMs } = database.dialect;
  try {
    await database.call((run) => run(`SELECT ${term} AS term, ${sessionAgeMs} AS age`));
    return false;
  } catch (error) {
    return lacksTerm(database.dialect, error);
  }
}

/**
 * Judges the server that answers as the primary. After a refusal the next statement connects anew: a new connection may lead
 * elsewhere.
 * @param isFirstLook then a server that tells no term is asked for it again: the server that could not tell its term may
 * have been another one
 * @returns undefined where the server must be asked again
 * @throws ReplicaError; FormerPrimaryError; ServerHiddenError
 */
export function judgePrimary(
  database: OwnDatabase,
  guard: FailoverGuard,
  seen: StoreTerm,
  isFirstLook: boolean,
): ServerVerdict | undefined {
  const { term, knownTerm } = seen;
  const isHidden = term === '' && ((knownTerm ?? '') !== '' || (guard.believed?.term ?? '') !== '');
  if (isHidden && isFirstLook && database.askForTermAgain()) return undefined;
  try {
    if (term === REPLICA) throw new ReplicaError();
    if (isHidden) throw new ServerHiddenError();
    return guard.judge(seen);
  } catch (error) {
    database.reconnect();
    throw error;
  }
}

/**
 * Returns warnings of causes that let a failover repeat IDs, besides the settings.
 * @param seen the server's term: '' if the server does not show it, undefined before it was read
 * @param limits how old a session may get, ms, and what else helps where there is no term
 */
export async function failoverWarnings(
  database: OwnDatabase,
  seen: string | undefined,
  { maxSessionAgeMs, cure }: { readonly maxSessionAgeMs: number; readonly cure: string },
): Promise<string[]> {
  const { dialect, age } = database;
  const warnings: string[] = [];
  if (!dialect.hasServers) return warnings;
  if (age.isPooled) {
    warnings.push(
      `a pooler shares its sessions with this service: limit their age there to ` +
        `${Math.floor(maxSessionAgeMs / 1_000)} s (PgBouncer: server_lifetime), or writes could reach a replaced ` +
        `primary that still runs`,
    );
  }
  if (seen === '') {
    warnings.push(
      `this server cannot be distinguished from one promoted in its place${await followers(database)}: a failover ` +
        `that loses commits can repeat IDs; ${cure}`,
    );
  }
  return warnings;
}

/** The standbys that a server has, which only matter where nothing tells them from it, in words. */
async function followers(database: OwnDatabase): Promise<string> {
  const { standbys } = database.dialect;
  if (standbys === undefined) return '';
  try {
    const { records } = await database.call((run) => run(standbys));
    const count = Number(records[0]?.standbys);
    return count > 0 ? `, and it has ${count} standby${count === 1 ? '' : 's'}` : '';
  } catch {
    // A server that does not tell that either.
    return '';
  }
}
