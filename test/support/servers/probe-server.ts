import { redisVersion } from './redis-version';
import { serverAddress } from './server-address';
import { serverFacts, ServerKind } from './server-kind';
import { withMysqlSession, withPostgresSession } from './sql-session';

const PROBE_MS = 3_000;

/**
 * Logs in and asks for the version, such as `10.11.19`.
 *
 * @throws Error when nothing answers within three seconds, the login fails, or MySQL answers where MariaDB was
 * expected and the other way round: they take different SQL, so one never stands in for the other unseen.
 */
export async function probeServer(kind: ServerKind, url: string): Promise<string> {
  const address = serverAddress(url, serverFacts[kind].usualPort);
  switch (kind) {
    case 'redis':
      return redisVersion(address, PROBE_MS);
    case 'postgres':
      return withPostgresSession(address, PROBE_MS, async (run) => {
        const [row] = await run('SHOW server_version');
        return leadingVersion(row?.['server_version']);
      });
    case 'mariadb':
    case 'mysql':
      return withMysqlSession(address, PROBE_MS, async (run) => {
        const [row] = await run('SELECT version() AS version');
        const answering = /mariadb/i.test(String(row?.['version'])) ? 'mariadb' : 'mysql';
        const version = leadingVersion(row?.['version']);
        if (answering !== kind) {
          throw new Error(`${serverFacts[answering].title} ${version} answers there, not ${serverFacts[kind].title}`);
        }
        return version;
      });
  }
}

/** `10.11.19-MariaDB-0+deb12u1` and `15.20 (Debian 15.20-0+deb12u1)` without the builder's additions. */
function leadingVersion(version: unknown): string {
  return /^[\d.]+/.exec(String(version))?.[0] ?? String(version);
}
