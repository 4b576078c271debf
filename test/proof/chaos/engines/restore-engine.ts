import { fenceWorkers } from '@raindrop/node';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPair } from '../../failover/failover-rounds.js';
import { TcpSwitch } from '../../../support/proxies/tcp-switch.js';
import { sqlDatabase } from '../../../support/stores/sql-database.js';
import { runCommand } from '../../../support/servers/run-command.js';
import { PAIR_ACCOUNTS, PAIR_DATABASE, type ServerPair } from '../../../support/servers/server-pair.js';
import { layoutOf } from '../chaos-options.js';
import { without, type Engine, type Fault, type Side, type Way } from './engine.js';
import { FAILOVER_LEASE } from './leg.js';

const COMER_MS = 15_000;
const LOSS_MS = 2_000;
const TAKER_MS = 6_000;
const COPY_MS = 60_000;
/** More than anybody reserves between the copy and its return. */
const RAISED_BY = 100_000_000;

/** One server whose files are put back to an earlier point while processes live: it looks like the same server. */
export class RestoreEngine implements Engine {
  readonly faults: Readonly<Record<string, Fault>> = { restore: (scene) => this.restore(scene) };

  private constructor(
    private readonly server: ServerPair,
    private readonly ways: Readonly<Record<Side, TcpSwitch>>,
    private readonly isFenced: boolean,
  ) {}

  static async start(isFenced: boolean): Promise<RestoreEngine> {
    const [server, main, side] = await Promise.all([
      startPair('mariadb'),
      TcpSwitch.atFreePort(),
      TcpSwitch.atFreePort(),
    ]);
    for (const way of [main, side]) way.pointTo(server.primary.port);
    return new RestoreEngine(server, { main, side }, isFenced);
  }

  get versions(): string {
    return `MariaDB ${this.server.primary.version}`;
  }

  wayTo(side: Side): Way {
    return this.wayToPort(this.ways[side].port);
  }

  async stop(): Promise<void> {
    await Promise.all([this.server.stop(), this.ways.main.stop(), this.ways.side.stop()]);
  }

  /** As docs/operations.md says: no process reaches it until it is fenced and segments are raised. */
  private readonly restore: Fault = async ({ comer, taker, issues }) => {
    const { primary } = this.server;
    const { main, side } = this.ways;
    await without(taker, async () => {
      await without(comer, () => primary.restart((directory) => copy(directory, 'data', 'copy')));
      await issues(comer, COMER_MS);
      await sleep(LOSS_MS);
      for (const way of [main, side]) way.pointTo(undefined);
      await primary.restart((directory) => copy(directory, 'copy', 'data'));
      if (this.isFenced) await this.makeSafe();
    });
    side.pointTo(primary.port);
    await issues(taker, TAKER_MS);
    main.pointTo(primary.port);
  };

  private async makeSafe(): Promise<void> {
    const { primary } = this.server;
    const dbConfig = sqlDatabase(this.wayToPort(primary.port));
    await fenceWorkers({ ...layoutOf({ unit: 'second', workers: 4 }), ...FAILOVER_LEASE, dbConfig });
    await this.server.query(primary, `UPDATE ${PAIR_DATABASE}.raindrop_segment SET max_id = max_id + ${RAISED_BY}`);
  }

  private wayToPort(port: number): Way {
    return { host: '127.0.0.1', port, ...PAIR_ACCOUNTS.mariadb };
  }
}

async function copy(directory: string, from: string, to: string): Promise<void> {
  await rm(join(directory, to), { recursive: true, force: true });
  await runCommand('cp', ['-a', join(directory, from), join(directory, to)], { withinMs: COPY_MS });
}
