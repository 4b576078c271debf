import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Child } from '../../../support/processes/child.js';
import { run } from '../../../support/processes/run.js';
import { findProgram } from '../../../support/servers/find-program.js';
import { freePort } from '../../../support/servers/free-port.js';
import { serverAccount } from '../../../support/servers/server-account.js';
import { withPostgresSession } from '../../../support/servers/sql-session.js';
import { until } from '../../../support/until.js';
import type { Side } from './engine.js';
import type { Front } from './pair-engine.js';

const DOWN_MS = 1_000;
const ANSWER_MS = 2_000;
const STOP_MS = 5_000;

/** What docs/engines.md says: the server's sessions must not be older than ours may be. */
const SERVER_LIFETIME_S = 5;

/**
 * A PgBouncer before both addresses of a pair: the main part of the network has its transaction mode, the side its session
 * mode.
 * @throws MissingForTests when it is not installed (Debian: pgbouncer)
 */
export async function startPgbouncer(ports: Readonly<Record<Side, number>>): Promise<Front> {
  const program = findProgram('pgbouncer');
  const account = await serverAccount('postgres');
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-pgbouncer-'));
  if (account.uid !== undefined && account.gid !== undefined) chownSync(directory, account.uid, account.gid);
  const port = await freePort();
  const file = join(directory, 'pgbouncer.ini');
  const database = (side: Side, mode: string): string =>
    `${side} = host=127.0.0.1 port=${ports[side]} dbname=postgres user=postgres pool_mode=${mode}`;
  const lines = [
    ...['[databases]', database('main', 'transaction'), database('side', 'session')],
    ...['[pgbouncer]', 'listen_addr=127.0.0.1', `listen_port=${port}`, 'unix_socket_dir=', 'auth_type=any'],
    ...['default_pool_size=20', 'max_client_conn=300', `server_lifetime=${SERVER_LIFETIME_S}`],
    ...['server_login_retry=1', 'query_wait_timeout=5', 'ignore_startup_parameters=extra_float_digits'],
  ];
  writeFileSync(file, lines.join('\n'));
  const launch = (): Child => new Child([program, file], { ...account, cwd: directory });
  let child = launch();
  const kill = async (): Promise<void> => {
    await child.end('SIGKILL', STOP_MS);
    await sleep(DOWN_MS);
    child = launch();
  };
  const address = { host: '127.0.0.1', port, user: 'postgres', password: '', database: 'pgbouncer' };
  const answers = (): Promise<boolean> => withPostgresSession(address, ANSWER_MS, () => Promise.resolve(true));
  const stop = async (): Promise<void> => {
    await child.end('SIGKILL', STOP_MS);
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await until('PgBouncer to answer', answers);
    const { stdout } = await run([program, '--version']);
    return {
      versions: stdout.split('\n')[0]!,
      faults: { killPgbouncer: kill },
      wayTo: (side, given) => ({ ...given, host: '127.0.0.1', port, database: side }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
