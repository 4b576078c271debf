import { connect, Socket } from 'node:net';
import type { DataSource, DataSourceOptions } from 'typeorm';

/** How long a request waits for a connection at most: one that is free, or a new one. */
export const CONNECTION_MS = 2_500;

/** How long a connection waits for the next word of the database; the two together are less than five seconds. */
export const ANSWER_MS = 2_000;

interface MysqlConfig {
  readonly config: { readonly host: string; readonly port: number };
}

type Connected = (error: unknown, connection?: { release(): void }) => void;

/** What TypeORM asks mysql2 for connections. */
interface MysqlPool {
  getConnection(connected: Connected): void;
}

/**
 * The options of a server's pool that a silent database cannot hold up. The drivers limit neither the wait for an answer
 * nor, in mysql2, that in the queue: after the silence everything would wait for as long as TCP takes to give up, a
 * quarter of an hour.
 *
 * A connection on which nothing happens for {@link ANSWER_MS} is closed; a call on it fails as with a connection that
 * was lost, and one that nobody uses is made anew when it is needed.
 */
export function limitAnswers(options: DataSourceOptions): DataSourceOptions {
  if (options.type === 'postgres') {
    // The pool's own limit for idle connections comes first: what a socket closes, it would report as a failure.
    const extra = { stream: () => impatient(new Socket()), idleTimeoutMillis: ANSWER_MS / 2 };
    return { ...options, connectTimeoutMS: CONNECTION_MS, extra };
  }
  if (options.type !== 'mysql' && options.type !== 'mariadb') return options;
  const stream = ({ config: { host, port } }: MysqlConfig): Socket => impatient(connect({ host, port, noDelay: true }));
  return { ...options, connectTimeout: CONNECTION_MS, extra: { stream } };
}

/** Lets nobody wait for longer than {@link CONNECTION_MS} in the queue of mysql2; the other drivers limit it themselves. */
export function limitQueue(dataSource: DataSource): DataSource {
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
