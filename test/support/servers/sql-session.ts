import { createConnection } from 'mysql2/promise';
import { Client } from 'pg';
import { ServerAddress } from './server-address';

/** Runs one statement at a time on a connection of its own; rows come back as the driver gives them. */
export type RunSql = (sql: string) => Promise<Record<string, unknown>[]>;

/** Opens a MariaDB or MySQL connection for the length of `work`. */
export async function withMysqlSession<T>(
  address: ServerAddress,
  timeoutMs: number,
  work: (run: RunSql) => Promise<T>,
): Promise<T> {
  const connection = await createConnection({ ...address, connectTimeout: timeoutMs });
  try {
    return await work(async (sql) => {
      const [rows] = await connection.query({ sql, timeout: timeoutMs });
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : [];
    });
  } finally {
    connection.destroy();
  }
}

/** Opens a PostgreSQL connection for the length of `work`. */
export async function withPostgresSession<T>(
  address: ServerAddress,
  timeoutMs: number,
  work: (run: RunSql) => Promise<T>,
): Promise<T> {
  const client = new Client({ ...address, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  // A server that is killed drops the connection: that ends `work` with an error, not the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(async (sql) => (await client.query<Record<string, unknown>>(sql)).rows);
  } finally {
    await client.end();
  }
}
