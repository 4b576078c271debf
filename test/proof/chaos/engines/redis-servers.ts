import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { Child } from '../../../support/processes/child.js';
import { startVolatileRedis } from '../../../support/redis/volatile-redis.js';
import { findProgram } from '../../../support/servers/find-program.js';
import { freePort } from '../../../support/servers/free-port.js';
import type { PrivateServer } from '../../../support/servers/private-server.js';
import { runCommand } from '../../../support/servers/run-command.js';
import { until } from '../../../support/until.js';
import type { Way } from './engine.js';

const STOP_MS = 5_000;
const READY_MS = 30_000;

/** Redis servers of which one at a time takes the writes that matter. */
export interface RedisServers {
  readonly nodes: readonly PrivateServer[];
  /** What an application gives ioredis, or the nodes of a cluster. */
  readonly way: Way;
  /** Whether a master is the one that takes them. */
  leads(master: Redis): Promise<boolean>;
  stop(): Promise<void>;
}

const NAME = 'raindrop';
const QUORUM = 2;

/** A master and two replicas that three Sentinels watch. */
export async function startSentinel(): Promise<RedisServers> {
  const [program, cli] = [findProgram('redis-server'), findProgram('redis-cli')];
  const nodes: PrivateServer[] = [];
  const sentinels: Child[] = [];
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-sentinel-'));
  const stop = async (): Promise<void> => {
    await Promise.all(sentinels.map((each) => each.end('SIGKILL', STOP_MS)));
    await Promise.all(nodes.map((each) => each.stop()));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    nodes.push(await startVolatileRedis());
    const { port } = nodes[0]!;
    for (let more = 0; more < 2; more++) {
      const replica = await startVolatileRedis();
      nodes.push(replica);
      // Not by an argument: a server that is promoted and restarted would follow its replica then.
      await runCommand(cli, ['-p', String(replica.port), 'REPLICAOF', '127.0.0.1', String(port)], {
        withinMs: READY_MS,
      });
    }
    const ports = await Promise.all([freePort(), freePort(), freePort()]);
    for (const each of ports) {
      const file = join(directory, `${each}.conf`);
      const lines = [
        ...[
          `port ${each}`,
          'bind 127.0.0.1',
          `dir ${directory}`,
          `sentinel monitor ${NAME} 127.0.0.1 ${port} ${QUORUM}`,
        ],
        ...[`sentinel down-after-milliseconds ${NAME} 1500`, `sentinel failover-timeout ${NAME} 6000`],
      ];
      writeFileSync(file, lines.join('\n') + '\n');
      sentinels.push(new Child([program, file, '--sentinel']));
    }
    const others = (): boolean => sentinels.every(({ printed }) => printed.split('+sentinel ').length > 2);
    await until('the Sentinels to know each other', others, { withinMs: READY_MS });
    const way = { sentinels: ports.map((each) => ({ host: '127.0.0.1', port: each })), name: NAME };
    // A master that came back after a failover is told to follow.
    const leads = async (master: Redis): Promise<boolean> =>
      /connected_slaves:[1-9]/.test(await master.info('replication'));
    return { nodes, way, leads, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Three masters and a replica of each. */
export async function startCluster(): Promise<RedisServers> {
  const cli = findProgram('redis-cli');
  const nodes: PrivateServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((each) => each.stop()));
  };
  try {
    for (let index = 0; index < 6; index++) {
      nodes.push(
        await startVolatileRedis(
          ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
          ...['--cluster-port', String(await freePort()), '--cluster-announce-ip', '127.0.0.1'],
        ),
      );
    }
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    await runCommand(cli, ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'], {
      withinMs: READY_MS,
    });
    const way = { nodes: nodes.map(({ port }) => ({ host: '127.0.0.1', port })) };
    return { nodes, way, leads: leadsSlot, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether the slot of the worker ids is its own. */
async function leadsSlot(master: Redis): Promise<boolean> {
  const slot = await master.cluster('KEYSLOT', 'raindrop.worker');
  const slots = await master.cluster('SLOTS');
  const id = String(await master.call('CLUSTER', 'MYID'));
  return slots.some(([from, to, owner]) => Number(slot) >= from && Number(slot) <= to && owner?.[2] === id);
}
