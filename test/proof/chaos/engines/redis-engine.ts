import { Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPair } from '../../failover/failover-rounds.js';
import type { PrivateServer } from '../../../support/servers/private-server.js';
import { PAIR_ACCOUNTS, type ServerPair } from '../../../support/servers/server-pair.js';
import { until } from '../../../support/until.js';
import { without, type Engine, type Fault, type Way } from './engine.js';
import type { RedisServers } from './redis-servers.js';

const COMER_MS = 15_000;
const LOSS_MS = 800;
const DOWN_MS = 1_000;
const FAILOVER_MS = 40_000;
const JOIN_MS = 40_000;

/** A Redis with replicas that keeps the worker ids and buffers segments of a MariaDB. */
export class RedisEngine implements Engine {
  readonly faults: Readonly<Record<string, Fault>> = {
    failover: (scene) => this.failover(scene),
    restart: () => this.restart(),
    flush: () => this.flush(),
  };

  private constructor(
    private readonly redis: RedisServers,
    private readonly database: ServerPair,
  ) {}

  static async start(startRedis: () => Promise<RedisServers>): Promise<RedisEngine> {
    const redis = await startRedis();
    try {
      return new RedisEngine(redis, await startPair('mariadb'));
    } catch (error) {
      await redis.stop();
      throw error;
    }
  }

  get versions(): string {
    return `Redis ${this.redis.nodes[0]!.version}, MariaDB ${this.database.primary.version}`;
  }

  get numbers(): Way {
    const { port } = this.database.primary;
    return { host: '127.0.0.1', port, ...PAIR_ACCOUNTS.mariadb };
  }

  wayTo(): Way {
    return { type: 'redis', ...this.redis.way };
  }

  async stop(): Promise<void> {
    await Promise.all([this.redis.stop(), this.database.stop()]);
  }

  /** The replicas hear nothing of what is written last, somebody's acquire among it; then one of them takes over. */
  private readonly failover: Fault = async ({ comer, taker, issues }) => {
    const { redis } = this;
    const master = await this.master();
    const are = await Promise.all(redis.nodes.map((node) => ask(node, (client) => client.role())));
    const replicas = redis.nodes.filter((_, index) => are[index]![0] === 'slave');
    await without(taker, async () => {
      await without(comer, () => Promise.resolve(signal(replicas, 'SIGSTOP')));
      await issues(comer, COMER_MS);
      await sleep(LOSS_MS);
      await master.kill('SIGKILL');
      signal(replicas, 'SIGCONT');
    });
    await until('a replica to take over', async () => (await this.master()) !== master, { withinMs: FAILOVER_MS });
    await master.restart();
    await this.joined(master);
  };

  /** kill -9; it comes back with nothing, before anybody takes over or after that. */
  private async restart(): Promise<void> {
    const master = await this.master();
    await master.kill('SIGKILL');
    await sleep(DOWN_MS);
    await master.restart();
    await this.joined(master);
  }

  private async flush(): Promise<void> {
    await ask(await this.master(), (client) => client.flushall());
  }

  private master(): Promise<PrivateServer> {
    return until(
      'a master',
      async () => {
        const are = await Promise.all(this.redis.nodes.map((node) => this.isMaster(node).catch(() => false)));
        return this.redis.nodes.find((_, index) => are[index]);
      },
      { withinMs: FAILOVER_MS },
    );
  }

  /** Of the slots that matter, in a cluster, and with replicas. */
  private isMaster(node: PrivateServer): Promise<boolean> {
    if (node.pid === undefined) return Promise.resolve(false);
    return ask(node, async (client) => {
      const role = (await client.role()) as [string, ...unknown[]];
      return role[0] === 'master' && (await this.redis.leads(client));
    });
  }

  /** It has a part again: that of a master that leads, or of a replica that has its master's data. */
  private async joined(node: PrivateServer): Promise<void> {
    const has = (): Promise<boolean> =>
      ask(node, async (client) => {
        const [role, , , state] = (await client.role()) as [string, unknown, unknown, unknown];
        return role === 'master' ? this.redis.leads(client) : state === 'connected';
      }).catch(() => false);
    await until('a Redis to have a part again', has, { withinMs: JOIN_MS });
  }
}

function signal(nodes: readonly PrivateServer[], name: NodeJS.Signals): void {
  for (const { pid } of nodes) if (pid !== undefined) process.kill(pid, name);
}

async function ask<T>({ url }: PrivateServer, question: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: () => null, commandTimeout: 1_000, connectTimeout: 1_000 });
  client.on('error', () => undefined);
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}
