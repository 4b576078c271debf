import type { Connection, ConnectionOptions, ResultSetHeader } from 'mysql2';
import { promisify } from 'node:util';
import type { ConnectionSockets } from '../database/connection-sockets.js';
import type { StatementResult } from '../database/dialect.js';
import type { Driver, DriverConnection } from '../database/sql-database.js';
import type { DatabaseSettings } from './database-settings.js';
import { loadDriver } from './load-driver.js';
import { requireSupported } from '../system/peer-versions.js';

/** These settings change how numbers and rows are read: an application's values are overridden. */
const SHAPE = {
  supportBigNumbers: true,
  bigNumberStrings: true,
  rowsAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  typeCast: true,
  // The driver would write the tokens of leases to the console.
  debug: false,
} as const;

/** Opens one connection to MySQL or MariaDB by `mysql2`. */
export function mysqlDriver(settings: DatabaseSettings, opTimeoutMs: number, sockets: ConnectionSockets): Driver {
  /** Set once it is connected. A connection that is still being made ends when its socket is closed. */
  let connection: Connection | undefined;
  return {
    async connect() {
      requireSupported('mysql2', () => __filename);
      const mysql = await loadDriver(settings.type, 'mysql2', () => import('mysql2'));
      const connecting = mysql.createConnection(configOf(settings, opTimeoutMs, sockets));
      connecting.on('error', () => undefined);
      await promisify(connecting.connect.bind(connecting))();
      connection = connecting;
      return mysqlConnectionOf(connection);
    },
    async end() {
      if (connection !== undefined) await promisify(connection.end.bind(connection))();
    },
  };
}

function configOf(
  { url, host, port, username, password, database, socketPath, ssl, extra }: DatabaseSettings,
  opTimeoutMs: number,
  sockets: ConnectionSockets,
): ConnectionOptions {
  const place = url === undefined ? { host, port, user: username, password, database, socketPath } : { uri: url };
  return {
    ...extra,
    ...place,
    ...(ssl !== undefined && ssl !== false && { ssl: ssl === true ? {} : ssl }),
    ...SHAPE,
    connectTimeout: opTimeoutMs,
    stream: sockets.factory('mysql', extra?.['stream']),
  };
}

/** The part that is used of a connection of `mysql2`, or of `mysql`, which TypeORM 0.3 can use instead. */
export interface MysqlConnection {
  readonly threadId?: number | null;
  readonly stream?: DriverConnection['stream'];
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  query(sql: string, values: unknown[]): MysqlQuery;
}

interface MysqlQuery {
  on(event: 'fields', listener: (fields: unknown) => void): this;
  on(event: 'result', listener: (result: unknown) => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
  on(event: 'end', listener: () => void): this;
}

/** Wraps an open connection of the driver. */
export function mysqlConnectionOf(connection: MysqlConnection): DriverConnection {
  return {
    session: connection.threadId ?? undefined,
    stream: connection.stream,
    onError: (listener) => connection.on('error', listener),
    query: (sql, values) => ask(connection, sql, values),
  };
}

/**
 * Runs a statement, and listens to the query's events. The driver calls a callback by `process.nextTick`, which an
 * application's test may have replaced by a fake timer: then no answer would arrive, and no lease would be renewed.
 */
function ask(connection: MysqlConnection, sql: string, values: readonly unknown[]): Promise<StatementResult> {
  return new Promise((resolve, reject) => {
    const records: Record<string, unknown>[] = [];
    let written: Partial<ResultSetHeader> = {};
    let hasRows = false;
    const over = (): unknown => connection.off('error', failed);
    const failed = (error: Error): void => {
      over();
      reject(error);
    };
    // When the connection is lost, mysql2 tells the callback of the query, and the connection. This query has no
    // callback.
    connection.on('error', failed);
    connection
      .query(sql, [...values])
      .on('fields', (fields) => (hasRows = fields !== undefined))
      .on('result', (result) => {
        if (hasRows) records.push(result as Record<string, unknown>);
        else written = result as ResultSetHeader;
      })
      .on('error', failed)
      .on('end', () => {
        over();
        if (hasRows) resolve({ records, affected: undefined, insertId: undefined });
        else resolve({ records, affected: Number(written.affectedRows), insertId: written.insertId });
      });
  });
}
