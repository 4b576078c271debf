import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../../support/processes/run.js';
import { PatroniCluster, LEADER_TTL_S, type PatroniNode } from '../../../support/servers/patroni-cluster.js';
import { until } from '../../../support/until.js';
import { without, type Engine, type Fault, type Side, type Way } from './engine.js';
import { WatchedSwitches } from './watched-switch.js';

const COMER_MS = 15_000;
/** So long are commits lost, after the first who acquires in that time issues. */
const LOSS_MS = 800;
/** The main part of the network learns of a new primary so much later than the side. */
const LATE_MS = 3_000;
const REPLACED_MS = 60_000;

/** The ways that lead to whichever node is the primary. */
export interface PrimaryWays {
  /** Such as `HAProxy 2.6.12`. */
  readonly version?: string;
  port(side: Side): number;
  stop(): Promise<void>;
}

/** Three PostgreSQL under Patroni; what leads to the primary asks their REST interface which one it is. */
export class PatroniEngine implements Engine {
  readonly faults: Readonly<Record<string, Fault>>;

  private constructor(
    private readonly cluster: PatroniCluster,
    isSync: boolean,
    private readonly ways: PrimaryWays,
    private readonly patroniVersion: string,
    private readonly serverVersion: string,
  ) {
    this.faults = {
      killPrimary: isSync ? () => this.kill() : (scene) => this.killWithLoss(scene),
      switchover: () => this.switchOver(),
      // Where a commit waits for a standby an old primary can acknowledge nothing.
      ...(isSync ? {} : { pausePatroni: () => this.pausePatroni() }),
    };
  }

  /** @param waysTo leads to the primary; switches of ours when left out */
  static async start(
    isSync: boolean,
    waysTo: (cluster: PatroniCluster) => Promise<PrimaryWays> = switchesTo,
  ): Promise<PatroniEngine> {
    const cluster = await PatroniCluster.start(isSync);
    try {
      const [row] = await cluster.query(cluster.nodes[0]!, 'SHOW server_version');
      const { stdout } = await run(['patroni', '--version']);
      const version = String(row?.['server_version']).split(' ')[0]!;
      return new PatroniEngine(cluster, isSync, await waysTo(cluster), stdout.trim().split(' ').at(-1)!, version);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get versions(): string {
    const front = this.ways.version === undefined ? [] : [this.ways.version];
    return [`PostgreSQL ${this.serverVersion}`, `Patroni ${this.patroniVersion}`, ...front].join(', ');
  }

  wayTo(side: Side): Way {
    return {
      type: 'postgres',
      host: '127.0.0.1',
      port: this.ways.port(side),
      username: 'postgres',
      database: 'postgres',
    };
  }

  async stop(): Promise<void> {
    await this.ways.stop();
    await this.cluster.stop();
  }

  private async kill(): Promise<void> {
    const primary = await this.cluster.primary();
    this.cluster.killPostgres(primary);
    await this.replaced(primary);
  }

  /** What the primary acknowledged last reaches no standby: somebody's acquire, and what all others write. */
  private readonly killWithLoss: Fault = async ({ comer, taker, issues }) => {
    const { cluster } = this;
    const primary = await cluster.primary();
    await without(taker, async () => {
      await without(comer, () => cluster.holdReplication(primary));
      await issues(comer, COMER_MS);
      await sleep(LOSS_MS);
      cluster.killPostgres(primary);
      cluster.endReceivers();
    });
    await this.replaced(primary);
  };

  private async switchOver(): Promise<void> {
    const primary = await this.cluster.primary();
    await this.cluster.switchOver(primary);
    await this.replaced(primary);
  }

  /** Another node becomes the primary, and the old one lives on until its Patroni goes on. */
  private async pausePatroni(): Promise<void> {
    const { cluster } = this;
    const primary = await cluster.primary();
    cluster.signalPatroni(primary, 'SIGSTOP');
    try {
      await sleep(LEADER_TTL_S * 1_000);
      await this.untilOther(primary);
    } finally {
      cluster.signalPatroni(primary, 'SIGCONT');
    }
    await this.replaced(primary);
  }

  private async replaced(former: PatroniNode): Promise<void> {
    await this.untilOther(former);
    await this.cluster.untilComplete();
  }

  private async untilOther(former: PatroniNode): Promise<void> {
    const others = this.cluster.nodes.filter((node) => node !== former);
    const isThere = async (): Promise<boolean> =>
      (await Promise.all(others.map((node) => this.cluster.isPrimary(node).catch(() => false)))).includes(true);
    await until('another node to be the primary', isThere, { withinMs: REPLACED_MS });
  }
}

async function switchesTo(cluster: PatroniCluster): Promise<PrimaryWays> {
  const ports = cluster.nodes.map(({ port }) => port);
  const isPrimary = (port: number): Promise<boolean> =>
    cluster.isPrimary(cluster.nodes.find((node) => node.port === port)!);
  const ways = await WatchedSwitches.start(2, ports, isPrimary, LATE_MS);
  return { port: (side) => ways.port(side === 'main' ? 0 : 1), stop: () => ways.stop() };
}
