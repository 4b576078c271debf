import type { Client, ClientConfig } from 'pg';
import type { ConnectionSockets } from '../database/connection-sockets.js';
import type { StatementResult } from '../database/dialect.js';
import type { Driver, DriverConnection } from '../database/sql-database.js';
import type { DatabaseSettings } from './database-settings.js';
import { loadDriver } from './load-driver.js';
import { requireSupported } from '../system/peer-versions.js';

/** The properties of a connected client that its types leave out. */
interface OpenedClient {
  readonly connection: Pick<DriverConnection, 'stream'>;
  readonly processID?: number;
}

/** PostgreSQL's number of the type boolean. */
const BOOL = 16;

/**
 * Raindrop's connections read values as the text that the server sends, and booleans as booleans. An application may
 * set parsers for the whole driver, for example to read int8 as BigInt: they hold for its own connections only.
 */
export const OWN_PARSERS = {
  getTypeParser: (oid: number) => (value: unknown) => (oid === BOOL ? value === 't' : value),
} as const;

const WRITES = ['INSERT', 'UPDATE', 'DELETE'];

/** Opens one connection to PostgreSQL by `pg`. */
export function postgresDriver(settings: DatabaseSettings, opTimeoutMs: number, sockets: ConnectionSockets): Driver {
  /** Set once it is connected. A connection that is still being made ends when its socket is closed. */
  let client: Client | undefined;
  return {
    async connect() {
      requireSupported('pg', () => __filename);
      const pg = await loadDriver(settings.type, 'pg', () => import('pg'));
      const connecting = new pg.Client(configOf(settings, opTimeoutMs, sockets));
      // A `false` in the configuration would give way to the default of the whole driver; here it holds.
      Object.assign(connecting, { binary: false });
      connecting.on('error', () => undefined);
      await connecting.connect();
      client = connecting;
      return connectionOf(client);
    },
    async end() {
      await client?.end();
    },
  };
}

function configOf(
  { url, host, port, username, password, database, ssl, extra }: DatabaseSettings,
  opTimeoutMs: number,
  sockets: ConnectionSockets,
): ClientConfig {
  const place = url === undefined ? { host, port, user: username, password, database } : { connectionString: url };
  return {
    ...extra,
    ...place,
    ...(ssl !== undefined && { ssl }),
    types: OWN_PARSERS,
    connectionTimeoutMillis: opTimeoutMs,
    stream: sockets.factory('postgres', extra?.['stream']),
  } as unknown as ClientConfig;
}

function connectionOf(client: Client): DriverConnection {
  const { connection, processID } = client as unknown as OpenedClient;
  return {
    session: processID,
    stream: connection.stream,
    onError: (listener) => client.on('error', listener),
    async query(sql, values): Promise<StatementResult> {
      const { rows, rowCount, command } = await client.query<Record<string, unknown>>(sql, [...values]);
      return { records: rows, affected: WRITES.includes(command) ? (rowCount ?? 0) : undefined, insertId: undefined };
    },
  };
}
