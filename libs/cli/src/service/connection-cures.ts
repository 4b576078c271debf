import { DatabaseCallError } from '@raindrop/node';

const NO_ROUTE = 'let this host through to the database: firewall, security group, network';

/**
 * What to do about a database that cannot be reached, by the error code of Node or of the driver. `dbConfig` is shown as
 * the user named it: `--url`, or `DATABASE_URL`.
 */
const CURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start the database, or correct host and port in dbConfig: nothing listens there',
  ENOENT: 'start the database, or correct its socket in dbConfig',
  ENOTFOUND: 'correct the host in dbConfig: no name server knows it',
  EAI_AGAIN: 'look at the name servers of this host: they do not answer',
  ETIMEDOUT: NO_ROUTE,
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ECONNRESET: 'look whether a database listens there, and whether it wants TLS: it hung up',
  PROTOCOL_CONNECTION_LOST: 'look at the log of the database: it hung up',
  ER_CON_COUNT_ERROR: 'raise max_connections, or lower the pools of the services: all connections are taken',
  '53300': 'raise max_connections, or lower the pools of the services: all connections are taken',
  '57P03': 'wait: the database is starting',
  SQLITE_BUSY: 'end what holds the file for long: another process writes',
  SQLITE_NOTADB: 'correct dbConfig: this file is not a SQLite database',
};

/** What to do about a database that cannot be reached; undefined for other errors. */
export function connectionCure(error: unknown): string | undefined {
  if (!(error instanceof DatabaseCallError)) return undefined;
  const cure = CURES[error.driverCode];
  return cure ?? (/time(d )?out|no answer/i.test(error.message) ? NO_ROUTE : undefined);
}
