import { monotonicClock } from '../system/system-ports.js';
import { DatabaseCallError } from './database-errors.js';
import type { Connection } from './database-connection.js';
import type { Dialect, StatementResult } from './dialect.js';
import type { SqlDatabase } from './sql-database.js';

/** How long a statement waits for a lock on the server: less than the usual `opTimeoutMs`. */
export const LONGEST_LOCK_WAIT_S = 2;

/**
 * The sessions that were given up while their server was still executing a statement, by address.
 *
 * While a commit waits for a replica the server does not notice that its client has gone. It must not be cancelled: the
 * server would then show a write as committed that no replica has. Whatever is written there meanwhile hangs as well, so
 * nothing is sent until it is over, or each attempt would leave another session behind.
 *
 * Two can be left at one address: the present session, and a retired one that still had a statement under way.
 */
export class LeftSession {
  /** When each was given up, monotonic ms, by the server's number of it. */
  private readonly left = new Map<SqlDatabase, Map<number, number>>();
  /** Connections that do nothing but ask: what they had sent before was answered. */
  private readonly asking = new WeakSet<Connection>();

  /** Notes a connection that is about to be dropped. */
  note(connection: Connection): void {
    const { unanswered } = connection;
    if (unanswered === undefined || this.asking.has(connection)) return;
    const { address, session } = unanswered;
    const there = this.left.get(address) ?? new Map<number, number>();
    if (!there.has(session)) this.left.set(address, there.set(session, monotonicClock.now()));
  }

  /** Whether there may be one where a connection leads. */
  mayBeOn({ address }: Connection): boolean {
    return address === undefined ? this.left.size > 0 : this.left.has(address);
  }

  /** Why nothing may be sent over this connection yet; undefined once all is over. @throws what the connection throws */
  async refusal(dialect: Dialect, connection: Connection): Promise<DatabaseCallError | undefined> {
    if (connection.address === undefined) await connection.open();
    const address = connection.address!;
    const there = this.left.get(address);
    if (there === undefined) return undefined;
    if (connection.unanswered === undefined) this.asking.add(connection);
    for (const [session, at] of there) {
      const sql = dialect.runningStatement(session, monotonicClock.now() - at);
      if (sql === undefined) return undefined;
      const state = await stateOf(dialect, connection.run(sql));
      if (state !== undefined) return stillRunning(dialect, monotonicClock.now() - at, state);
      there.delete(session);
    }
    this.asking.delete(connection);
    if (there.size === 0 && this.left.get(address) === there) this.left.delete(address);
    return undefined;
  }
}

/** The server's word for what the session is about; undefined when it is over. */
async function stateOf(dialect: Dialect, asked: Promise<StatementResult>): Promise<string | undefined> {
  try {
    const [record] = (await asked).records;
    return record && (typeof record['state'] === 'string' ? record['state'] : '');
  } catch (error) {
    // A server that cannot tell is not to be stopped by that.
    if (error instanceof DatabaseCallError && dialect.lacksTerm(error.driverCode)) return undefined;
    throw error;
  }
}

function stillRunning({ waitReasons }: Dialect, ms: number, state: string): DatabaseCallError {
  const reason =
    `a statement abandoned ${Math.floor(ms / 1_000)} s ago still runs on the ` +
    `server${state === '' ? '' : ` (state: ${state})`}, and nothing else is sent until it ends. It may wait for ` +
    `${waitReasons}`;
  return new DatabaseCallError(reason, '');
}

/**
 * The drivers' codes for a transaction that gave way to another one: the server says that it was rolled back, COMMIT
 * included. A statement that is a transaction by itself, as all of ours are, can be sent again as it was.
 *
 * Not ER_ERROR_DURING_COMMIT: a node of Galera that loses its cluster during COMMIT says it, too, when the others may have
 * the transaction already.
 */
const GAVE_WAY = new Set([
  'ER_LOCK_DEADLOCK',
  // Rolls back the statement alone: in a transaction of several the caller has to.
  'ER_LOCK_WAIT_TIMEOUT',
  // MariaDB with innodb_snapshot_isolation, its default from 11.6 on.
  'ER_CHECKREAD',
  // The certification of Group Replication.
  'ER_TRANSACTION_ROLLBACK_DURING_COMMIT',
  // serialization_failure, deadlock_detected, lock_not_available
  ...['40001', '40P01', '55P03'],
]);

/** Whether a driver's code says that its statement gave way to others: by a server, or by SQLite that was busy. */
export function gaveWay(driverCode: string): boolean {
  return GAVE_WAY.has(driverCode) || /^SQLITE_(BUSY|LOCKED)/.test(driverCode);
}
