import { mkdirSync, mkdtempSync, chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../processes/child';
import { until } from '../until';
import { findProgram, postgresFolders } from './find-program';
import { freePort } from './free-port';
import { lastLines } from './run-command';
import { serverAccount, type ServerAccount } from './server-account';
import { withPostgresSession } from './sql-session';
import { endReceiver, stopReceiver } from './wal-receiver';

const READY_MS = 90_000;
/** After that time a standby that does not follow is made anew. */
const FOLLOW_MS = 25_000;
const STOP_MS = 20_000;
const QUERY_MS = 3_000;
const REST_MS = 1_500;

/** A primary whose Patroni says nothing for so long is replaced, s. */
export const LEADER_TTL_S = 10;

/** One Patroni and its PostgreSQL. */
export interface PatroniNode {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
}

/** Three PostgreSQL under Patroni, with an etcd of their own, on ports of 127.0.0.1. */
export class PatroniCluster {
  readonly nodes: PatroniNode[] = [];
  private readonly directory = mkdtempSync(join(tmpdir(), 'raindrop-patroni-'));
  private readonly patronis = new Map<PatroniNode, Child>();
  private etcd: Child | undefined;
  private etcdPort = 0;
  private readonly receivers: number[] = [];

  private constructor(
    private readonly isSync: boolean,
    private readonly account: ServerAccount,
  ) {
    const { uid, gid } = account;
    if (uid !== undefined && gid !== undefined) chownSync(this.directory, uid, gid);
  }

  /**
   * @param isSync whether a commit waits for a standby (`synchronous_mode_strict`)
   * @throws MissingForTests when a program is not installed (Debian: patroni, etcd-server)
   */
  static async start(isSync: boolean, count = 3): Promise<PatroniCluster> {
    const [patroni, etcd] = [findProgram('patroni'), findProgram('etcd')];
    const cluster = new PatroniCluster(isSync, await serverAccount('postgres'));
    try {
      await cluster.startEtcd(etcd);
      for (let index = 1; index <= count; index++) {
        const node = { name: `p${index}`, port: await freePort(), restPort: await freePort() };
        cluster.nodes.push(node);
        cluster.startPatroni(patroni, node);
        await until(`${node.name} to run`, () => cluster.isRunning(node), { withinMs: READY_MS });
      }
      await cluster.untilComplete();
      return cluster;
    } catch (error) {
      const logs = [...cluster.patronis.values()].map((child) => lastLines(child.printed));
      await cluster.stop();
      throw new Error(`Patroni does not start: ${String(error)}${logs.join('')}`, { cause: error });
    }
  }

  /** Whether Patroni says that this is the primary. */
  async isPrimary({ restPort }: PatroniNode): Promise<boolean> {
    return (await this.ask(restPort, '/primary')).ok;
  }

  async primary(): Promise<PatroniNode> {
    return until('a primary', () => this.findPrimary(), { withinMs: READY_MS });
  }

  /** Waits until every standby follows the primary, and a commit can be had. One that cannot follow is made anew. */
  async untilComplete(): Promise<void> {
    const isComplete = async (): Promise<boolean> => (await this.findLacking())?.length === 0;
    const within = (withinMs: number): Promise<unknown> =>
      until('the standbys to follow', () => isComplete().catch(() => false), { withinMs });
    try {
      await within(FOLLOW_MS);
    } catch {
      await until('those that cannot follow to be made anew', () => this.remake().catch(() => false), {
        withinMs: READY_MS,
      });
      await within(READY_MS);
    }
  }

  /** From now on no standby hears of what the primary commits. */
  async holdReplication(primary: PatroniNode): Promise<void> {
    for (const node of this.nodes.filter((each) => each !== primary)) {
      const pid = await until(`${node.name} to wait for the primary`, () =>
        stopReceiver(async (sql) => (await this.query(node, sql))[0]?.['answer']),
      );
      this.receivers.push(pid);
    }
  }

  /** What was held is lost. */
  endReceivers(): void {
    for (const pid of this.receivers.splice(0)) {
      try {
        endReceiver(pid);
      } catch {
        // Patroni was faster.
      }
    }
  }

  /** kill -9 of a PostgreSQL, whose Patroni lives. */
  killPostgres(node: PatroniNode): void {
    process.kill(this.postmaster(node)!, 'SIGKILL');
  }

  /** Stops a Patroni in its tracks, or lets it go on. Its PostgreSQL goes on in any case. */
  signalPatroni(node: PatroniNode, signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.patronis.get(node)!.signal(signal);
  }

  /** A planned one. */
  async switchOver(leader: PatroniNode): Promise<void> {
    const body = JSON.stringify({ leader: leader.name });
    const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, { method: 'POST', body });
    if (!answer.ok) throw new Error(`the switchover was refused: ${await answer.text()}`);
  }

  query({ port }: PatroniNode, sql: string): Promise<Record<string, unknown>[]> {
    const address = { host: '127.0.0.1', port, user: 'postgres', password: '', database: 'postgres' };
    return withPostgresSession(address, QUERY_MS, (run) => run(sql));
  }

  /** Ends everything and removes its files. Safe to call twice. */
  async stop(): Promise<void> {
    this.endReceivers();
    for (const child of this.patronis.values()) child.signal('SIGCONT');
    await Promise.all([...this.patronis.values()].map((child) => child.end('SIGTERM', STOP_MS)));
    // What a Patroni that had to be killed left behind.
    for (const node of this.nodes) {
      const pid = this.postmaster(node);
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    }
    await this.etcd?.end('SIGTERM', STOP_MS);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 10 });
  }

  private async startEtcd(program: string): Promise<void> {
    const [client, peer] = await Promise.all([freePort(), freePort()]);
    this.etcdPort = client;
    const urls = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`] as const;
    const data = join(this.directory, 'etcd');
    this.etcd = new Child(
      [
        ...([
          program,
          '--data-dir',
          data,
          '--listen-client-urls',
          urls[0],
          '--advertise-client-urls',
          urls[0],
        ] as const),
        ...['--listen-peer-urls', urls[1], '--initial-advertise-peer-urls', urls[1]],
        ...['--initial-cluster', `default=${urls[1]}`],
      ],
      { ...this.account, cwd: this.directory },
    );
    await until('etcd to answer', async () => (await this.ask(client, '/health')).ok);
  }

  private startPatroni(program: string, node: PatroniNode): void {
    const { directory, account, etcdPort, isSync } = this;
    const own = join(directory, node.name);
    mkdirSync(own);
    if (account.uid !== undefined && account.gid !== undefined) chownSync(own, account.uid, account.gid);
    const reach = (port: number): object => ({ listen: `127.0.0.1:${port}`, connect_address: `127.0.0.1:${port}` });
    const superuser = { username: 'postgres', password: 'x' };
    const settings = {
      scope: 'raindrop',
      name: node.name,
      restapi: reach(node.restPort),
      etcd3: { host: `127.0.0.1:${etcdPort}` },
      bootstrap: {
        dcs: {
          ttl: LEADER_TTL_S,
          loop_wait: 1,
          retry_timeout: 3,
          maximum_lag_on_failover: 64 * 1_048_576,
          // A primary that has crashed is replaced, not waited for.
          primary_start_timeout: 0,
          master_start_timeout: 0,
          synchronous_mode: isSync,
          synchronous_mode_strict: isSync,
          postgresql: {
            use_pg_rewind: true,
            parameters: { max_connections: 200, wal_log_hints: 'on', wal_keep_size: '128MB', hot_standby: 'on' },
          },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
      },
      postgresql: {
        ...reach(node.port),
        data_dir: join(own, 'data'),
        bin_dir: postgresFolders()[0],
        pgpass: join(own, 'pgpass'),
        authentication: { superuser, replication: { username: 'replicator', password: 'x' }, rewind: superuser },
        pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'],
        parameters: { unix_socket_directories: own, shared_buffers: '32MB', wal_retrieve_retry_interval: '100ms' },
        remove_data_directory_on_rewind_failure: true,
        remove_data_directory_on_diverged_timelines: true,
      },
      watchdog: { mode: 'off' },
    };
    // YAML is a superset of JSON.
    const file = join(own, 'patroni.yml');
    writeFileSync(file, JSON.stringify(settings));
    this.patronis.set(node, new Child([program, file], { ...account, cwd: own, diesBy: 'SIGTERM' }));
  }

  /** @returns whether the cluster has answered; a busy machine may take longer than a call waits */
  private async remake(): Promise<boolean> {
    const lacking = await this.findLacking();
    for (const { restPort } of lacking ?? []) await this.ask(restPort, '/reinitialize', { force: true });
    return lacking !== undefined;
  }

  private async findPrimary(): Promise<PatroniNode | undefined> {
    const are = await Promise.all(this.nodes.map((node) => this.isPrimary(node).catch(() => false)));
    return this.nodes.find((_, index) => are[index]);
  }

  /** The nodes that do not follow the primary; undefined where there is no primary, or where no commit can be had. */
  private async findLacking(): Promise<PatroniNode[] | undefined> {
    const primary = await this.findPrimary();
    if (primary === undefined) return undefined;
    const streaming = `SELECT application_name AS answer FROM pg_stat_replication WHERE state = 'streaming'`;
    const following = (await this.query(primary, streaming)).map(({ answer }) => String(answer));
    const lacking = this.nodes.filter((node) => node !== primary && !following.includes(node.name));
    if (lacking.length > 0 || !this.isSync) return lacking;
    // PostgreSQL's setting may be left from a former primary: only a standby that Patroni calls synchronous can take over.
    const others = this.nodes.filter((node) => node !== primary);
    const areSync = await Promise.all(others.map(async ({ restPort }) => (await this.ask(restPort, '/sync')).ok));
    return areSync.includes(true) ? [] : undefined;
  }

  private async isRunning({ restPort }: PatroniNode): Promise<boolean> {
    return (await this.ask(restPort, '/health')).ok;
  }

  /** @param order makes it a POST */
  private ask(port: number, path: string, order?: object): Promise<Response> {
    const sent = order === undefined ? {} : { method: 'POST', body: JSON.stringify(order) };
    return fetch(`http://127.0.0.1:${port}${path}`, { ...sent, signal: AbortSignal.timeout(REST_MS) });
  }

  /** Its process id, if it runs. */
  private postmaster({ name }: PatroniNode): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.directory, name, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
      process.kill(pid, 0);
      return pid;
    } catch {
      return undefined;
    }
  }
}
