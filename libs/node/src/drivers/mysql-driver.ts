import type { Connection, ConnectionOptions, ResultSetHeader, RowDataPacket } from 'mysql2';
import { promisify } from 'node:util';
import type { ConnectionSockets } from '../database/connection-sockets.js';
import type { StatementResult } from '../database/run-sql.js';
import type { Driver, DriverConnection } from '../database/sql-database.js';
import type { DatabaseSettings } from './database-settings.js';
import { loadDriver } from './load-driver.js';

/** Settings that give numbers and rows another shape. */
const SHAPE = {
  supportBigNumbers: true,
  bigNumberStrings: true,
  rowsAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  typeCast: true,
  // What it writes about its statements holds tokens.
  debug: false,
} as const;

/** One connection by `mysql2`, to MySQL or MariaDB. */
export function mysqlDriver(settings: DatabaseSettings, opTimeoutMs: number, sockets: ConnectionSockets): Driver {
  /** Set once it is connected: one that is still connecting ends with its socket. */
  let connection: Connection | undefined;
  return {
    async connect() {
      const mysql = await loadDriver(settings.type, () => import('mysql2'));
      const connecting = mysql.createConnection(configOf(settings, opTimeoutMs, sockets));
      connecting.on('error', () => undefined);
      await promisify(connecting.connect.bind(connecting))();
      connection = connecting;
      return connectionOf(connection);
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

function connectionOf(connection: Connection): DriverConnection {
  return {
    session: connection.threadId,
    stream: (connection as unknown as { stream: DriverConnection['stream'] }).stream,
    onError: (listener) => connection.on('error', listener),
    query: (sql, values) =>
      new Promise<StatementResult>((resolve, reject) => {
        connection.query<RowDataPacket[] | ResultSetHeader>(sql, [...values], (error, answer) => {
          if (error !== null) reject(error);
          else if (Array.isArray(answer)) resolve({ records: answer, affected: undefined, insertId: undefined });
          else resolve({ records: [], affected: Number(answer.affectedRows), insertId: answer.insertId });
        });
      }),
  };
}
