import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { connect, Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseSettingsOf, UnfitSqliteDriverError } from '@raindrop/nestjs';
import { DataSource, type DataSourceOptions } from 'typeorm';

/** The database, as TypeORM's options name it. */
export type ServiceDatabase =
  | { readonly type: 'better-sqlite3'; readonly database: string }
  | { readonly type: 'mysql' | 'mariadb' | 'postgres'; readonly url: string };

const LEGAL =
  'must be mysql://, mariadb:// or postgres:// followed by user:password@host:port/database, or sqlite:path/to/file; ' +
  'if unset, the service keeps its data in the file data/raindrop.sqlite';

/** Where the service keeps its data when DATABASE_URL is not set. */
export const DEFAULT_DATABASE: ServiceDatabase = { type: 'better-sqlite3', database: 'data/raindrop.sqlite' };

/**
 * Reads DATABASE_URL.
 * @throws Error that says what is legal, without what was given
 */
export function readDatabaseUrl(given: string): ServiceDatabase {
  const database = databaseSettingsOf(given) as ServiceDatabase | undefined;
  if (database?.type === 'better-sqlite3') return database;
  const { hostname = '', pathname = '' } = database === undefined ? {} : new URL(database.url);
  if (database === undefined || hostname === '' || !/^\/[^/]+$/.test(pathname)) throw new Error(LEGAL);
  return database;
}

/** Which database it is, without user and password. */
export function nameDatabase(database: ServiceDatabase): string {
  if (database.type === 'better-sqlite3') return `the SQLite file ${database.database}`;
  const { host, pathname } = new URL(database.url);
  return `${database.type}://${host}${pathname}`;
}

const TRIES = 8;
const FIRST_PAUSE_MS = 50;

/** TypeORM options of the service. It has no entities: Raindrop makes its own tables. */
export function dataSourceOptions(database: ServiceDatabase): DataSourceOptions {
  if (database.type !== 'better-sqlite3') return limitAnswers(database);
  // Another process's write takes a millisecond or two, but in this driver waiting for it stops the event loop.
  return { ...database, enableWAL: true, timeout: 1_000 };
}

/**
 * Opens the database, and tries again for about three seconds: of several processes that start at once on an empty
 * SQLite file one switches it to WAL, and the others fail meanwhile. Nest's own retries would log each attempt.
 *
 * @throws the last failure
 */
export async function openDatabase(options: DataSourceOptions): Promise<DataSource> {
  if (options.type === 'better-sqlite3') await makeOwnFile(String(options.database));
  for (let tries = 1; ; tries++) {
    try {
      return limitQueue(await new DataSource(options).initialize());
    } catch (error) {
      if (tries === TRIES || error instanceof UnfitSqliteDriverError) throw error;
      await sleep(FIRST_PAUSE_MS * tries * (1 + Math.random()));
    }
  }
}

const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK } = constants;

/**
 * A new file is for this user alone: SQLite would let every user read it. Those beside it get the rights that it has. A
 * pipe in its place is refused, and not waited for.
 */
async function makeOwnFile(path: string): Promise<void> {
  if (path.startsWith(':')) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o600);
  await file.close();
}

/** How long a request waits for a connection at most: one that is free, or a new one. */
export const CONNECTION_MS = 2_500;

/** How long a connection waits for the next word of the database; the two together are less than five seconds. */
export const ANSWER_MS = 2_000;

interface MysqlConfig {
  readonly config: { readonly host: string; readonly port: number };
}

type Connected = (error: unknown, connection?: { release(): void }) => void;

/** The methods by which TypeORM asks mysql2 for connections. */
interface MysqlPool {
  getConnection(connected: Connected): void;
}

/**
 * The options of a server's pool that a silent database cannot hold up. The drivers limit neither the wait for an answer
 * nor, in mysql2, that in the queue: after the silence everything would wait for as long as TCP takes to give up, a
 * quarter of an hour.
 *
 * A connection on which nothing happens for {@link ANSWER_MS} is closed; a call on it fails as with a connection that
 * was lost, and an idle one is made anew when it is needed.
 */
function limitAnswers(options: DataSourceOptions): DataSourceOptions {
  if (options.type === 'postgres') {
    // The pool's own limit for idle connections comes first: what a socket closes, it would report as a failure.
    const extra = { stream: () => impatient(new Socket()), idleTimeoutMillis: ANSWER_MS / 2 };
    return { ...options, connectTimeoutMS: CONNECTION_MS, extra };
  }
  if (options.type !== 'mysql' && options.type !== 'mariadb') return options;
  const stream = ({ config: { host, port } }: MysqlConfig): Socket => impatient(connect({ host, port, noDelay: true }));
  return { ...options, connectTimeout: CONNECTION_MS, extra: { stream } };
}

/** Limits a call's wait in the queue of mysql2 to {@link CONNECTION_MS}; the other drivers limit it themselves. */
function limitQueue(dataSource: DataSource): DataSource {
  const { pool } = dataSource.driver as { pool?: MysqlPool };
  if (pool === undefined) return dataSource;
  const getConnection = pool.getConnection.bind(pool);
  pool.getConnection = (connected) => {
    let isGivenUp = false;
    const giveUp = (): void => {
      isGivenUp = true;
      connected(Object.assign(new Error(`no connection within ${CONNECTION_MS} ms`), { code: 'ETIMEDOUT' }));
    };
    const timer = setTimeout(giveUp, CONNECTION_MS).unref();
    getConnection((error, connection) => {
      clearTimeout(timer);
      if (isGivenUp) connection?.release();
      else connected(error, connection);
    });
  };
  return dataSource;
}

/** Closes without an error: mysql2 has no listener for one once the server has refused it. */
function impatient(socket: Socket): Socket {
  return socket.setTimeout(ANSWER_MS, () => socket.destroy());
}
