import type { RaindropError } from '@raindrop/core';
import { DatabaseCallError, DatabaseRefusedError, DriverNotInstalledError } from '@raindrop/node';
import { isMissingTable } from '../service/missing-table.js';

const NO_ROUTE = 'let this host through to the database: firewall, security group, network';

/** What helps where the database cannot be reached, by the code of Node or of the driver. */
const CURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'start the database, or correct host and port in --url: nobody listens there',
  ENOENT: 'start the database, or correct its socket in --url',
  ENOTFOUND: 'correct the host in --url: no name server knows it',
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
  SQLITE_NOTADB: 'correct --url: this file is no SQLite database',
};

/** What to do about an error that ends the examination. */
export function remedyFor(error: RaindropError): string {
  if (isMissingTable(error)) return 'run raindrop init, or correct --url and --table';
  if (error instanceof DriverNotInstalledError) return `npm install ${error.packageName}`;
  if (error instanceof DatabaseRefusedError) return 'correct --url, or what the account may do';
  const cure = error instanceof DatabaseCallError ? CURES[error.driverCode] : undefined;
  if (cure !== undefined) return cure;
  if (/time(d )?out|no answer/i.test(error.message)) return NO_ROUTE;
  return `see docs/errors.md, ${error.errorCode}`;
}
