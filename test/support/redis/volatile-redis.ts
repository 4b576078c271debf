import { PrivateServer } from '../servers/private-server.js';
import { freePort } from '../servers/free-port.js';
import { findProgram } from '../servers/find-program.js';
import { serverAccount } from '../servers/server-account.js';

/** A Redis of a test's own, with `more` arguments, that keeps nothing by itself: a restart finds what SAVE wrote last, or nothing. */
export async function startVolatileRedis(...more: readonly string[]): Promise<PrivateServer> {
  return PrivateServer.start({
    kind: 'redis',
    program: findProgram('redis-server'),
    account: await serverAccount('redis').catch(() => serverAccount('nobody')),
    stopSignal: 'SIGKILL',
    prepare: () => Promise.resolve(),
    arguments: (directory, port) => [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory],
      ...['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0'],
      ...more,
    ],
  });
}

/**
 * The only node of a cluster. Its bus has a port of its own: by default Redis takes one among those that the system gives
 * to clients that connect somewhere.
 */
export async function startRedisCluster(): Promise<PrivateServer> {
  const busPort = String(await freePort());
  return startVolatileRedis(
    '--cluster-enabled',
    'yes',
    '--cluster-announce-ip',
    '127.0.0.1',
    '--cluster-port',
    busPort,
  );
}
