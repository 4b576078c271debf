import { DatabaseCallError } from './database-call-error.js';
import type { Connection } from './database-connection.js';
import type { Dialect } from './dialect.js';
import type { StatementResult } from './run-sql.js';
import type { SqlDatabase } from './sql-database.js';

/** How long a statement waits for a lock on the server: less than the usual `opTimeoutMs`. */
export const LONGEST_LOCK_WAIT_S = 2;

/**
 * The sessions that were given up while their server was still executing a statement: one of each address at most.
 *
 * While a commit waits for a replica the server does not notice that its client has gone. It must not be cancelled: the
 * server would then show a write as committed that no replica has. Whatever is written there meanwhile hangs as well, so
 * nothing is sent until it is over, or each attempt would leave another session behind.
 */
export class LeftSession {
  private readonly left = new Map<SqlDatabase, { readonly session: number; readonly at: number }>();

  /** Notes a connection that is about to be dropped. */
  note({ unanswered }: Connection): void {
    // Of two at one address, the second one has only asked about the first.
    if (unanswered === undefined || this.left.has(unanswered.address)) return;
    this.left.set(unanswered.address, { session: unanswered.session, at: performance.now() });
  }

  /** Whether there may be one where a connection leads. */
  mayBeOn({ address }: Connection): boolean {
    return address === undefined ? this.left.size > 0 : this.left.has(address);
  }

  /** Why nothing may be sent over this connection yet; undefined once it is over. @throws what the connection throws */
  async refusal(dialect: Dialect, connection: Connection): Promise<DatabaseCallError | undefined> {
    if (connection.address === undefined) await connection.open();
    const address = connection.address!;
    const left = this.left.get(address);
    if (left === undefined) return undefined;
    const sql = dialect.underWay(left.session, performance.now() - left.at);
    if (sql === undefined) return undefined;
    if (await isThere(dialect, connection.run(sql))) return stillUnderWay(performance.now() - left.at);
    if (this.left.get(address) === left) this.left.delete(address);
    return undefined;
  }
}

async function isThere(dialect: Dialect, asked: Promise<StatementResult>): Promise<boolean> {
  try {
    return (await asked).records.length > 0;
  } catch (error) {
    // A server that cannot tell is not to be stopped by that.
    if (error instanceof DatabaseCallError && dialect.lacksTerm(error.driverCode)) return false;
    throw error;
  }
}

function stillUnderWay(ms: number): DatabaseCallError {
  const reason =
    `a statement that was given up ${Math.floor(ms / 1_000)} s ago is still under way on the server, and nothing else is ` +
    `sent before it is over: does its commit wait for a replica (synchronous_standby_names, semi-synchronous replication)?`;
  return new DatabaseCallError(reason, '');
}
