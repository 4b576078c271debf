import { setTimeout as sleep } from 'node:timers/promises';
import { startPair } from '../../failover/failover-rounds.js';
import { AptInstall } from '../../../support/servers/apt-install.js';
import { fetchNats, hasNats } from '../../../support/servers/nats-program.js';
import { NatsServers } from '../../../support/servers/nats-servers.js';
import { NetworkHosts } from '../../../support/servers/network-hosts.js';
import { PAIR_ACCOUNTS, type ServerPair } from '../../../support/servers/server-pair.js';
import { without, type Engine, type Fault, type Side, type Way } from './engine.js';
import { memberFaults } from './member-faults.js';

const MEMBERS = 3;
const STREAM = 'KV_raindrop-workers';
const DOWN_MS = 2_000;
const FULL_MS = 3_000;
const COMER_MS = 15_000;
const LOSS_MS = 800;
/** Several heartbeats: who lives has noticed by then. */
const NOTICED_MS = 3_000;

/** Three servers of NATS, which keep the worker ids; the numbers are in a MariaDB. */
export class NatsEngine implements Engine {
  readonly faults: Readonly<Record<string, Fault>>;

  private constructor(
    private readonly nats: NatsServers,
    private readonly hosts: NetworkHosts,
    private readonly database: ServerPair,
  ) {
    this.faults = {
      ...memberFaults(nats, hosts, () => nats.leader(STREAM)),
      killAll: () => this.killAll(),
      fillUp: () => this.fillUp(),
      restore: (scene) => this.restore(scene),
    };
  }

  static async start(): Promise<NatsEngine> {
    if (!hasNats()) await fetchNats(new AptInstall());
    const hosts = await NetworkHosts.start(MEMBERS);
    let nats: NatsServers | undefined;
    try {
      nats = await NatsServers.start({ count: MEMBERS, hosts });
      return new NatsEngine(nats, hosts, await startPair('mariadb'));
    } catch (error) {
      await nats?.stop();
      await hosts.stop();
      throw error;
    }
  }

  get versions(): string {
    return `nats-server ${this.nats.version}, MariaDB ${this.database.primary.version}`;
  }

  get numbers(): Way {
    const { port } = this.database.primary;
    return { host: '127.0.0.1', port, ...PAIR_ACCOUNTS.mariadb };
  }

  /** The side asks the servers in another order. */
  wayTo(side: Side): Way {
    const { addresses } = this.nats;
    return { type: 'nats', servers: side === 'main' ? addresses : [...addresses].reverse() };
  }

  async stop(): Promise<void> {
    await Promise.all([this.nats.stop(), this.database.stop()]);
    await this.hosts.stop();
  }

  private async killAll(): Promise<void> {
    await this.nats.killAll();
    await sleep(DOWN_MS);
    await this.nats.startAll();
  }

  private async fillUp(): Promise<void> {
    const { config } = (await this.nats.ask(`STREAM.INFO.${STREAM}`)) as { config: object };
    await this.nats.ask(`STREAM.UPDATE.${STREAM}`, { ...config, max_bytes: 1 });
    await sleep(FULL_MS);
    await this.nats.ask(`STREAM.UPDATE.${STREAM}`, config);
  }

  /** Copies of all files, after which somebody acquires, are put back while processes live. */
  private readonly restore: Fault = async ({ comer, taker, issues }) => {
    await without(taker, async () => {
      let copy = '';
      await without(comer, async () => void (copy = await this.nats.backup()));
      await issues(comer, COMER_MS);
      await sleep(LOSS_MS);
      await this.nats.restore(copy);
      await sleep(NOTICED_MS);
    });
  };
}
