import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../../../support/processes/child.js';
import { run } from '../../../support/processes/run.js';
import { findProgram } from '../../../support/servers/find-program.js';
import { freePort } from '../../../support/servers/free-port.js';
import type { PatroniCluster } from '../../../support/servers/patroni-cluster.js';
import type { PrimaryWays } from './patroni-engine.js';

const STOP_MS = 5_000;

/**
 * An HAProxy that asks Patroni which node is the primary, and ends the sessions of one that is not any more.
 * @throws MissingForTests when it is not installed (Debian: haproxy)
 */
export async function startHaproxy({ nodes }: PatroniCluster): Promise<PrimaryWays> {
  const program = findProgram('haproxy');
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-haproxy-'));
  const port = await freePort();
  const file = join(directory, 'haproxy.cfg');
  const lines = [
    ...['global', '  maxconn 500', 'defaults', '  mode tcp'],
    ...['  timeout connect 1s', '  timeout client 1h', '  timeout server 1h'],
    ...[
      'listen primary',
      `  bind 127.0.0.1:${port}`,
      '  option httpchk GET /primary',
      '  http-check expect status 200',
    ],
    '  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions',
    ...nodes.map((node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort}`),
  ];
  writeFileSync(file, lines.join('\n') + '\n');
  const child = new Child([program, '-db', '-f', file], { cwd: directory });
  const { stdout } = await run([program, '-v']);
  return {
    version: `HAProxy ${/version ([\d.]+)/.exec(stdout)?.[1]}`,
    port: () => port,
    async stop() {
      await child.end('SIGKILL', STOP_MS);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
