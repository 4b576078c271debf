import { existsSync } from 'node:fs';
import { until } from '../until';
import { freePort } from './free-port';
import { PAIR_DATABASE } from './server-pair';
import { MissingForTests } from '../jest/missing-for-tests';
import { PrivateServer } from './private-server';
import { startMariadb } from './private-servers';
import { serverAddress } from './server-address';
import { withMysqlSession } from './sql-session';

/** Where Debian's package puts it. */
export const GALERA_LIBRARY = '/usr/lib/galera/libgalera_smm.so';
const PROBE_MS = 2_000;
const READY_MS = 60_000;

/** A node that says nothing is out after three seconds. */
const TIMES = [
  ...['evs.suspect_timeout=PT1.5S', 'evs.inactive_timeout=PT3S', 'evs.inactive_check_period=PT0.5S'],
  ...['evs.keepalive_period=PT0.5S', 'gmcast.peer_timeout=PT1S', 'gcache.size=32M'],
];

/** A Galera cluster of MariaDB on ports of 127.0.0.1, in which every node takes writes. */
export class GaleraCluster {
  readonly nodes: PrivateServer[] = [];
  galeraVersion = '';
  /** Where nodes that are asked to join find others; nothing makes the next one begin a cluster. */
  private addresses: readonly string[] = [];

  private constructor() {}

  /** @throws MissingForTests when Galera is not installed (Debian: galera-4, rsync) */
  static async start(count: number): Promise<GaleraCluster> {
    if (!existsSync(GALERA_LIBRARY))
      throw new MissingForTests('Galera', `${GALERA_LIBRARY} is not there (Debian: galera-4)`);
    const cluster = new GaleraCluster();
    try {
      const ports = await Promise.all(Array.from({ length: 3 * count }, () => freePort()));
      const all = Array.from({ length: count }, (_, index) => `127.0.0.1:${ports[3 * index]}`);
      for (let index = 0; index < count; index++) {
        const [group, ist, sst] = ports.slice(3 * index, 3 * index + 3) as [number, number, number];
        const options = [`gmcast.listen_addr=tcp://127.0.0.1:${group}`, `ist.recv_addr=127.0.0.1:${ist}`, ...TIMES];
        const node = await startMariadb(() => [
          ...['--wsrep-on=ON', `--wsrep-provider=${GALERA_LIBRARY}`, '--wsrep-cluster-name=raindrop'],
          ...['--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--wsrep-sst-method=rsync'],
          `--wsrep-cluster-address=gcomm://${cluster.addresses.join(',')}`,
          ...[`--wsrep-node-name=node${index + 1}`, `--wsrep-node-address=127.0.0.1:${group}`],
          `--wsrep-sst-receive-address=127.0.0.1:${sst}`,
          `--wsrep-provider-options=${options.join(';')}`,
        ]);
        cluster.nodes.push(node);
        cluster.addresses = all;
        await cluster.untilReady(node);
      }
      await cluster.prepare();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Whether a node takes statements, as part of a cluster that has most of its nodes. */
  async isReady(port: number): Promise<boolean> {
    const ready = await this.status(port, 'wsrep_ready');
    return ready === 'ON';
  }

  async untilReady(node: PrivateServer): Promise<void> {
    const isReady = (): Promise<boolean> => this.isReady(node.port).catch(() => false);
    await until(`the node on port ${node.port} to be ready`, isReady, { withinMs: READY_MS });
  }

  /** Ends a node in an orderly way, if it runs, and lets it join again. */
  async restart(node: PrivateServer): Promise<void> {
    await node.restart();
    await this.untilReady(node);
  }

  /** Cuts a node off from the others, or lets it find them again; clients reach it all the time. */
  async isolate({ port }: PrivateServer, isIsolated: boolean): Promise<void> {
    await this.query(port, `SET GLOBAL wsrep_provider_options = 'gmcast.isolate=${isIsolated ? 1 : 0}'`);
  }

  query(port: number, sql: string): Promise<Record<string, unknown>[]> {
    const { url } = this.nodes[0]!;
    return withMysqlSession({ ...serverAddress(url, port), port }, PROBE_MS, (run) => run(sql));
  }

  /** Ends all nodes and removes their files. */
  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  private async prepare(): Promise<void> {
    const { port } = this.nodes[0]!;
    await this.query(port, `CREATE DATABASE ${PAIR_DATABASE}`);
    this.galeraVersion = (await this.status(port, 'wsrep_provider_version')).replace(/\(.*/, '');
  }

  private async status(port: number, name: string): Promise<string> {
    const [row] = await this.query(port, `SHOW GLOBAL STATUS LIKE '${name}'`);
    return String(row?.['Value']);
  }
}
