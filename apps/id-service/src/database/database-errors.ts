/** Codes of Node, mysql2 and PostgreSQL for a connection that cannot be had or was lost, also while the server stops. */
const AWAY = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END', 'ERR_SOCKET_CLOSED'],
  ...['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR', 'PROTOCOL_ENQUEUE_AFTER_QUIT'],
  ...['ER_SERVER_SHUTDOWN', 'ER_NORMAL_SHUTDOWN', 'ER_CONNECTION_KILLED', 'ER_CLIENT_INTERACTION_TIMEOUT'],
  ...['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED', 'ER_HOST_IS_BLOCKED'],
]);

/** PostgreSQL's classes of connection failures, of operators who stop it, and of too few connections. */
const AWAY_CLASSES = /^(08\w{3}|57P0[123]|53300)$/;

/**
 * Errors of `pg`, mysql2 and TypeORM without a code: a connection was lost, or could not be opened, between statements.
 */
const AWAY_WORDS = new RegExp(
  '^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|' +
    "Client was closed|Can't add new command when connection is in closed state|Query runner already released)",
);

/** Whether a statement failed because the database could not be reached, and not for what it said. */
export function isDatabaseAway(error: unknown): boolean {
  const { code, message, driverError, errors } = (error ?? {}) as Record<string, unknown>;
  if (typeof code === 'string' && (AWAY.has(code) || AWAY_CLASSES.test(code))) return true;
  if (typeof message === 'string' && AWAY_WORDS.test(message)) return true;
  // Node tries a name's addresses in turn; TypeORM wraps.
  if (Array.isArray(errors)) return errors.some(isDatabaseAway);
  return driverError !== undefined && driverError !== error && isDatabaseAway(driverError);
}

/** Codes of MySQL's server and of PostgreSQL. */
const FULL = new Set(['ER_DISK_FULL', 'ER_RECORD_FILE_FULL', '53100']);

/** SQLite cannot make or write one of its files; some file systems have other words for being full. */
const SQLITE_FULL = /^SQLITE_(FULL|IOERR|CANTOPEN)/;

/** Whether a statement failed because its database could not write: nothing is wrong with what it said. */
export function isDatabaseFull(error: unknown): boolean {
  const { code, driverError } = (error ?? {}) as Record<string, unknown>;
  if (typeof code === 'string' && (FULL.has(code) || SQLITE_FULL.test(code))) return true;
  return driverError !== undefined && driverError !== error && isDatabaseFull(driverError);
}
