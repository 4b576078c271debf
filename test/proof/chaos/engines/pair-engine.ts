import { setTimeout as sleep } from 'node:timers/promises';
import { startPair } from '../../failover/failover-rounds.js';
import { TcpSwitch } from '../../../support/proxies/tcp-switch.js';
import { MariadbPair } from '../../../support/servers/mariadb-pair.js';
import { PAIR_ACCOUNTS, type PairKind, type ServerPair } from '../../../support/servers/server-pair.js';
import { without, type Engine, type Fault, type Side, type Way } from './engine.js';

/** So long are commits lost, after the first who acquires in that time issues. */
const LOSS_MS = 800;
const COMER_MS = 15_000;
/** Who takes a row at the new primary comes before the others learn of it. */
const TAKER_MS = 6_000;
/** Longer than who wants a row waits at a successor of a primary that may live. */
const LONG_TAKER_MS = 30_000;
const DOWN_MS = 1_000;

const TITLES = { postgres: 'PostgreSQL', mariadb: 'MariaDB' } as const;

/** What can be done to a primary and its standby. */
export type PairFault = 'restart' | 'switchover' | 'failover' | 'oldPrimary';

/** What stands between the processes and the addresses of a pair. */
export interface Front {
  readonly versions: string;
  readonly faults: Readonly<Record<string, Fault>>;
  wayTo(side: Side, account: Way): Way;
  stop(): Promise<void>;
}

/** A primary and a standby that follows it asynchronously, behind two addresses. */
export class PairEngine implements Engine {
  readonly faults: Readonly<Record<string, Fault>>;

  private constructor(
    private readonly pair: ServerPair,
    private readonly ways: Readonly<Record<Side, TcpSwitch>>,
    faults: readonly PairFault[],
    private readonly front?: Front,
  ) {
    const own = faults.map((name) => [name, (...args: Parameters<Fault>) => this[name](...args)]);
    this.faults = { ...(Object.fromEntries(own) as Record<string, Fault>), ...front?.faults };
  }

  /** @param inFront starts what stands before these two ports */
  static async start(
    kind: PairKind,
    faults: readonly PairFault[],
    inFront?: (ports: Readonly<Record<Side, number>>) => Promise<Front>,
  ): Promise<PairEngine> {
    const [pair, main, side] = await Promise.all([startPair(kind), TcpSwitch.atFreePort(), TcpSwitch.atFreePort()]);
    // A MariaDB that failed and was rebuilt has its old id again: each second failover leads back to it.
    if (pair instanceof MariadbPair) pair.takesTurns = faults.includes('failover');
    let engine = new PairEngine(pair, { main, side }, faults);
    try {
      if (inFront !== undefined) {
        engine = new PairEngine(pair, { main, side }, faults, await inFront({ main: main.port, side: side.port }));
      }
      await pair.addStandby();
      engine.point(pair.primary.port);
      return engine;
    } catch (error) {
      await engine.stop();
      throw error;
    }
  }

  get versions(): string {
    const { kind, primary } = this.pair;
    return [`${TITLES[kind]} ${primary.version}`, ...(this.front === undefined ? [] : [this.front.versions])].join(
      ', ',
    );
  }

  wayTo(side: Side): Way {
    const account = PAIR_ACCOUNTS[this.pair.kind];
    return this.front?.wayTo(side, account) ?? { ...account, host: '127.0.0.1', port: this.ways[side].port };
  }

  async stop(): Promise<void> {
    await this.front?.stop();
    await Promise.all([this.pair.stop(), this.ways.main.stop(), this.ways.side.stop()]);
  }

  /** kill -9 of the primary, which comes back. */
  private async restart(): Promise<void> {
    await this.pair.primary.kill('SIGKILL');
    await sleep(DOWN_MS);
    await this.pair.primary.restart();
  }

  /** A planned one: no process writes until the standby has everything. */
  private async switchover(): Promise<void> {
    this.point(undefined);
    await this.pair.holdReplication();
    await this.pair.promote();
    this.point(this.pair.primary.port);
    await this.pair.addStandby();
  }

  /** To a standby that has lost acknowledged commits, somebody's acquire among them. */
  private readonly failover: Fault = async ({ comer, taker, issues }) => {
    const { pair, ways } = this;
    await without(taker, async () => {
      await without(comer, () => pair.holdReplication());
      await issues(comer, COMER_MS);
      await sleep(LOSS_MS);
      await pair.killPrimary();
      this.point(undefined);
    });
    await pair.promote();
    ways.side.pointTo(pair.primary.port);
    await issues(taker, TAKER_MS);
    ways.main.pointTo(pair.primary.port);
    await pair.addStandby();
  };

  /** The standby is promoted; the primary is not told, lives on, and keeps the sessions of the main part. */
  private readonly oldPrimary: Fault = async ({ taker, issues }) => {
    const { pair, ways } = this;
    await without(taker, async () => {
      ways.main.pointNewOnesTo(0);
      await pair.divide();
      ways.side.pointTo(pair.primary.port);
    });
    await issues(taker, LONG_TAKER_MS);
    await sleep(LOSS_MS);
    ways.main.pointTo(pair.primary.port);
    await pair.addStandby();
  };

  private point(port: number | undefined): void {
    this.ways.main.pointTo(port);
    this.ways.side.pointTo(port);
  }
}
