import { setTimeout as sleep } from 'node:timers/promises';
import { startPair } from '../../failover/failover-rounds.js';
import { EtcdServers } from '../../../support/servers/etcd-servers.js';
import { NetworkHosts } from '../../../support/servers/network-hosts.js';
import { PAIR_ACCOUNTS, type ServerPair } from '../../../support/servers/server-pair.js';
import { until } from '../../../support/until.js';
import { without, type Engine, type Fault, type Side, type Way } from './engine.js';
import { memberFaults } from './member-faults.js';

const MEMBERS = 3;
const QUOTA_BYTES = 24 * 1_048_576;
const FILLING_BYTES = 1_048_576;
const FULL_MS = 3_000;
const FULL_WITHIN_MS = 20_000;
const COMER_MS = 15_000;
const LOSS_MS = 800;

/** Three members of an etcd, which keep the worker ids; the numbers are in a MariaDB. */
export class EtcdEngine implements Engine {
  readonly faults: Readonly<Record<string, Fault>>;

  private constructor(
    private readonly etcd: EtcdServers,
    private readonly hosts: NetworkHosts,
    private readonly database: ServerPair,
  ) {
    this.faults = {
      ...memberFaults(etcd, hosts, () => etcd.leader()),
      compact: () => this.compact(),
      fillUp: () => this.fillUp(),
      restore: (scene) => this.restore(scene),
    };
  }

  static async start(): Promise<EtcdEngine> {
    const hosts = await NetworkHosts.start(MEMBERS);
    let etcd: EtcdServers | undefined;
    try {
      etcd = await EtcdServers.start({ count: MEMBERS, hosts, quotaBytes: QUOTA_BYTES });
      return new EtcdEngine(etcd, hosts, await startPair('mariadb'));
    } catch (error) {
      await etcd?.stop();
      await hosts.stop();
      throw error;
    }
  }

  get versions(): string {
    return `etcd ${this.etcd.version}, MariaDB ${this.database.primary.version}`;
  }

  get numbers(): Way {
    const { port } = this.database.primary;
    return { host: '127.0.0.1', port, ...PAIR_ACCOUNTS.mariadb };
  }

  /** The side asks the members in another order. */
  wayTo(side: Side): Way {
    const { endpoints } = this.etcd;
    return { type: 'etcd', endpoints: side === 'main' ? endpoints : [...endpoints].reverse() };
  }

  async stop(): Promise<void> {
    await Promise.all([this.etcd.stop(), this.database.stop()]);
    await this.hosts.stop();
  }

  private async compact(): Promise<void> {
    const { header } = await this.etcd.ask('/v3/kv/range', { key: 'eA==' });
    const { revision } = header as { revision: string };
    await this.etcd.ask('/v3/kv/compaction', { revision, physical: true }).catch((error: unknown) => {
      if (!String(error).includes('compacted')) throw error;
    });
    for (const member of this.etcd.members) await this.etcd.ask('/v3/maintenance/defragment', {}, member);
  }

  private async fillUp(): Promise<void> {
    const { etcd } = this;
    const value = Buffer.alloc(FILLING_BYTES).toString('base64');
    const isFull = (): Promise<boolean> =>
      etcd.ask('/v3/kv/put', { key: 'eA==', value }).then(
        () => false,
        (error: unknown) => String(error).includes('space exceeded'),
      );
    await until('etcd to be full', isFull, { withinMs: FULL_WITHIN_MS });
    await sleep(FULL_MS);
    await this.compact();
    const { alarms = [] } = await etcd.ask('/v3/maintenance/alarm', { action: 'GET' });
    for (const alarm of alarms as object[]) await etcd.ask('/v3/maintenance/alarm', { ...alarm, action: 'DEACTIVATE' });
  }

  /** A snapshot, after which somebody acquires, is put back as another cluster while processes live. */
  private readonly restore: Fault = async ({ comer, taker, issues }) => {
    await without(taker, async () => {
      await without(comer, () => this.etcd.snapshot());
      await issues(comer, COMER_MS);
      await sleep(LOSS_MS);
      await this.etcd.restoreSnapshot();
    });
  };
}
