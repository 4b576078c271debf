import { RaindropError } from '@raindrop/core';

/** The refusal says what a database has against us: who we are, where we want to go, what we want to do. */
export type DatabaseRefusal = 'account' | 'database' | 'rights';

/**
 * The database answers, and refuses. No second try helps at the start, and tries with a wrong password lock accounts;
 * a lease that is already held goes on trying.
 *
 * Like DatabaseCallError it keeps the driver's words and code and nothing else.
 */
export class DatabaseRefusedError extends RaindropError {
  readonly errorCode = 'DATABASE_REFUSED';

  constructor(
    /** `account`: user or password; `database`: it does not exist; `rights`: the account lacks them. */
    readonly refusal: DatabaseRefusal,
    readonly reason: string,
    /** The driver's code, such as `ER_ACCESS_DENIED_ERROR` or `28P01`; '' for a write that changes nothing without a word. */
    readonly driverCode: string,
    configuredBy: string,
  ) {
    const code = driverCode === '' ? '' : ` (${driverCode})`;
    super(`The database refuses: ${reason}${code}. ${adviceFor(refusal, configuredBy)}.`, { retryable: false });
  }
}

function adviceFor(refusal: DatabaseRefusal, configuredBy: string): string {
  if (refusal === 'account') return `Check user and password in ${configuredBy}`;
  if (refusal === 'database') return `Create what is missing, or correct its name in ${configuredBy} or in tableName`;
  return `Grant the account SELECT, INSERT and UPDATE on the table, or name another account in ${configuredBy}`;
}
