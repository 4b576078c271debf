import { join } from 'node:path';
import { findProgram, postgresFolders } from './find-program';
import { PrivateServer } from './private-server';
import { runCommand } from './run-command';
import { serverAccount } from './server-account';

const PREPARE_MS = 120_000;

// Durable, as in production, or Raindrop warns: in the run's directory, which is in memory, that costs nothing.

/**
 * A MariaDB of its own: `root` without a password, reachable from this machine only.
 *
 * @param more options of the server; a function is asked at every start
 * @throws MissingForTests when it is not installed (Debian: mariadb-server); Error when it does not start.
 */
export async function startMariadb(more: readonly string[] | (() => readonly string[]) = []): Promise<PrivateServer> {
  const program = findProgram('mariadbd');
  const install = findProgram('mariadb-install-db');
  const account = await serverAccount('mysql');
  const folders = (directory: string): string[] => [
    `--datadir=${join(directory, 'data')}`,
    // A MariaDB that starts removes every temporary table it finds, those of another server in /tmp included.
    `--tmpdir=${directory}`,
    // 25 MB in place of 113: the directory may be in memory, and several run at a time.
    '--innodb-log-file-size=8M',
    '--innodb-undo-tablespaces=0',
  ];
  return PrivateServer.start({
    kind: 'mariadb',
    program,
    account,
    stopSignal: 'SIGTERM',
    async prepare(directory) {
      const args = [
        '--no-defaults',
        ...folders(directory),
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ];
      await runCommand(install, args, { ...account, cwd: directory, withinMs: PREPARE_MS });
    },
    arguments: (directory, port) => [
      '--no-defaults',
      ...folders(directory),
      `--socket=${join(directory, 'socket')}`,
      `--pid-file=${join(directory, 'pid')}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--skip-name-resolve',
      '--max-connections=300',
      '--innodb-buffer-pool-size=64M',
      ...(typeof more === 'function' ? more() : more),
    ],
  });
}

/**
 * A PostgreSQL of its own: `postgres` without a password, reachable from this machine only.
 *
 * @throws MissingForTests when it is not installed (Debian: postgresql); Error when it does not start.
 */
export async function startPostgres(): Promise<PrivateServer> {
  const program = findProgram('postgres', postgresFolders());
  const initdb = findProgram('initdb', postgresFolders());
  const account = await serverAccount('postgres');
  return PrivateServer.start({
    kind: 'postgres',
    program,
    account,
    // "Fast" shutdown; SIGTERM would wait until every client has left.
    stopSignal: 'SIGINT',
    async prepare(directory) {
      const data = join(directory, 'data');
      const args = ['-D', data, '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync'];
      await runCommand(initdb, args, { ...account, cwd: directory, withinMs: PREPARE_MS });
    },
    arguments: (directory, port) => [
      ...['-D', join(directory, 'data'), '-p', String(port), '-k', directory],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'max_connections=300'],
    ],
  });
}

/**
 * A Redis of its own, without a password, reachable from this machine only; every write is on file before its answer.
 *
 * @throws MissingForTests when it is not installed (Debian: redis-server); Error when it does not start.
 */
export async function startRedis(): Promise<PrivateServer> {
  const program = findProgram('redis-server');
  // Redis runs as anybody, but an open Redis of root's would let any local user write root's files.
  const account = await serverAccount('redis').catch(() => serverAccount('nobody'));
  return PrivateServer.start({
    kind: 'redis',
    program,
    account,
    stopSignal: 'SIGTERM',
    prepare: () => Promise.resolve(),
    arguments: (directory, port) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory],
      ...['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'],
    ],
  });
}
