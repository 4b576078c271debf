import { RaindropError } from '@raindrop/core';
import { type BelievedServer, judgeServer, type ServerVerdict, type StoreTerm } from '@raindrop/core/internal';
import { type Bind, type Dialect, execute, type Statement, type StatementResult } from './dialect.js';
import { DatabaseCallError, DatabaseRefusedError } from './database-errors.js';
import type { OwnDatabase } from './own-database.js';

/** What a server that is a replica gives for its term. */
export const REPLICA = 'replica';

/** The database answered from a replica, whose rows may be older than what the primary has acknowledged. */
export class ReplicaError extends RaindropError {
  readonly errorCode = 'REPLICA';

  constructor() {
    super(
      'The database answered from a replica (pg_is_in_recovery() or @@read_only): it may lag, and it takes no writes. Give ' +
        'the address of the primary. Behind a proxy that sends reads to replicas, give an account or a port of it that ' +
        'goes to the primary alone (pgpool: load_balance_mode = off or disable_load_balance_on_write; ProxySQL: a user ' +
        'without query rules; MaxScale: a readconnroute service with router_options=master).',
      { retryable: true },
    );
  }
}

/** The server tells this account no term, and is known to have one: a failover would go unnoticed, or be seen at every look. */
export class ServerHiddenError extends RaindropError {
  readonly errorCode = 'SERVER_HIDDEN';

  constructor() {
    super(
      'The database server does not tell this account which server it is, and has told others: a failover could not be ' +
        'noticed. Give the account the same rights (PostgreSQL: GRANT pg_monitor or EXECUTE ON FUNCTION ' +
        'pg_control_system() TO it; MySQL and MariaDB: SELECT on performance_schema), or one account to all processes.',
      { retryable: true },
    );
  }
}

/** The condition that a statement is executed by the server whose term that is. */
export function isOnServer(dialect: Dialect, value: Bind, term: string): string {
  return `${dialect.termOfWrite} = ${value(term)}`;
}

/** A text of no characters. */
const NOTHING = "''";

/** Runs a statement that asks for the server's term, without it where the server can't tell. */
export async function askWithTerm(
  database: OwnDatabase,
  statement: (dialect: Dialect) => Statement,
): Promise<StatementResult> {
  const { dialect } = database;
  const run = (): Promise<StatementResult> => database.call((each) => execute(each, statement(database.dialect)));
  try {
    return await run();
  } catch (error) {
    // The statement may want other things that are not there.
    if (lacksTerm(dialect, error) && dialect === database.dialect && (await isMute(database))) {
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
async function isMute(database: OwnDatabase): Promise<boolean> {
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
 * @param isFirstLook then a server that tells no term is asked for it again: it may have been another one that could not
 * @returns undefined where the server is to be asked again
 * @throws ReplicaError; FormerPrimaryError; ServerHiddenError
 */
export function judgePrimary(
  database: OwnDatabase,
  seen: StoreTerm,
  ownReachMs: number,
  believed: BelievedServer | undefined,
  isFirstLook: boolean,
): ServerVerdict | undefined {
  const { term, knownTerm } = seen;
  const isHidden = term === '' && ((knownTerm ?? '') !== '' || (believed?.term ?? '') !== '');
  if (isHidden && isFirstLook && database.forgetMuteness()) return undefined;
  try {
    if (term === REPLICA) throw new ReplicaError();
    if (isHidden) throw new ServerHiddenError();
    return judgeServer(seen, ownReachMs, believed);
  } catch (error) {
    database.reconnect();
    throw error;
  }
}
