import { setTimeout as sleep } from 'node:timers/promises';
import { GaleraCluster } from '../../../support/servers/galera-cluster.js';
import { PAIR_ACCOUNTS } from '../../../support/servers/server-pair.js';
import { SeededRandom } from '../../../support/engine/seeded-random.js';
import type { Engine, Fault, Side, Way } from './engine.js';
import { WatchedSwitches } from './watched-switch.js';

const PAUSE_MS = 8_000;
const DOWN_MS = 2_000;

/** Three nodes that all take writes; each part of the network uses one of them, and another one when that is gone. */
export class GaleraEngine implements Engine {
  readonly faults: Readonly<Record<string, Fault>> = {
    killNode: () => this.kill(),
    pauseNode: () => this.pause(),
    splitNode: () => this.split(),
    restartAllButOne: () => this.restartAllButOne(),
  };
  private readonly random = new SeededRandom(7);

  private constructor(
    private readonly cluster: GaleraCluster,
    private readonly ways: WatchedSwitches,
  ) {}

  static async start(): Promise<GaleraEngine> {
    const cluster = await GaleraCluster.start(3);
    try {
      const ports = cluster.nodes.map(({ port }) => port);
      const ways = await WatchedSwitches.start(2, ports, (port) => cluster.isReady(port));
      return new GaleraEngine(cluster, ways);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get versions(): string {
    return `MariaDB ${this.cluster.nodes[0]!.version}, Galera ${this.cluster.galeraVersion}`;
  }

  wayTo(side: Side): Way {
    const port = this.ways.port(side === 'main' ? 0 : 1);
    return { host: '127.0.0.1', port, ...PAIR_ACCOUNTS.mariadb };
  }

  async stop(): Promise<void> {
    await this.ways.stop();
    await this.cluster.stop();
  }

  private async kill(): Promise<void> {
    const node = this.random.pick(this.cluster.nodes);
    await node.kill('SIGKILL');
    await sleep(DOWN_MS);
    await this.cluster.restart(node);
  }

  /** Longer than the others wait for it: they go on without it, and it joins them again. */
  private async pause(): Promise<void> {
    const node = this.random.pick(this.cluster.nodes);
    const { pid } = node;
    process.kill(pid!, 'SIGSTOP');
    await sleep(PAUSE_MS).finally(() => process.kill(pid!, 'SIGCONT'));
    await this.cluster.untilReady(node);
  }

  /** As the pause, but that it answers its clients, who must get nothing from it. */
  private async split(): Promise<void> {
    const node = this.random.pick(this.cluster.nodes);
    await this.cluster.isolate(node, true);
    await sleep(PAUSE_MS).finally(() => this.cluster.isolate(node, false));
    await this.cluster.untilReady(node);
  }

  private async restartAllButOne(): Promise<void> {
    const stays = this.random.pick(this.cluster.nodes);
    for (const node of this.cluster.nodes) if (node !== stays) await this.cluster.restart(node);
  }
}
