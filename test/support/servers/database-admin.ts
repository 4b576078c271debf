import { serverAddress } from './server-address';
import { serverFacts } from './server-kind';
import { RunSql, withMysqlSession, withPostgresSession } from './sql-session';

/** The kinds whose databases live on a server. */
export type SqlServerKind = 'mariadb' | 'postgres' | 'mysql';

const ADMIN_MS = 30_000;

/** Creates an empty database and gives the server's version. */
export function createDatabase(kind: SqlServerKind, url: string, name: string): Promise<string> {
  return asAdmin(kind, url, async (run) => {
    // template0 has no sessions; a session on template1, the default, would make this fail.
    const rest = kind === 'postgres' ? 'TEMPLATE template0' : 'CHARACTER SET utf8mb4';
    await run(`CREATE DATABASE ${name} ${rest}`);
    const [row] = await run(kind === 'postgres' ? 'SHOW server_version' : 'SELECT version() AS server_version');
    return String(row?.['server_version']);
  });
}

/** Drops databases and ends the connections to them. A database that is gone already is no error. */
export function dropDatabases(kind: SqlServerKind, url: string, names: readonly string[]): Promise<void> {
  return asAdmin(kind, url, async (run) => {
    if (kind !== 'postgres') {
      // A forgotten transaction would make DROP wait for a day, the default.
      await run('SET SESSION lock_wait_timeout = 20');
    }
    for (const name of names) {
      await run(`DROP DATABASE IF EXISTS ${name}${kind === 'postgres' ? ' WITH (FORCE)' : ''}`);
    }
  });
}

function asAdmin<T>(kind: SqlServerKind, url: string, work: (run: RunSql) => Promise<T>): Promise<T> {
  const address = serverAddress(url, serverFacts[kind].usualPort);
  return kind === 'postgres' ? withPostgresSession(address, ADMIN_MS, work) : withMysqlSession(address, ADMIN_MS, work);
}
