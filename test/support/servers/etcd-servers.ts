import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Child } from '../processes/child';
import { run } from '../processes/run';
import { until } from '../until';
import { findProgram } from './find-program';
import { freePort } from './free-port';
import type { NetworkHosts } from './network-hosts';

const READY_MS = 30_000;
const STOP_MS = 10_000;
const ASK_MS = 10_000;

export interface EtcdMember {
  readonly name: string;
  /** For clients. */
  readonly url: string;
  readonly peerUrl: string;
  child: Child;
}

export interface EtcdOptions {
  readonly count?: number;
  /** How much it stores before it takes no more writes. */
  readonly quotaBytes?: number;
  /** Whether the tokens of accounts are signed (JWT), so that each change of the accounts ends them; else random texts. */
  readonly signsTokens?: boolean;
  /** Where the members are, one on each; ports of 127.0.0.1 when left out. */
  readonly hosts?: NetworkHosts;
}

/** The members of an etcd of our own, each in a directory of its own. */
export class EtcdServers {
  readonly members: EtcdMember[] = [];
  version = '';
  private readonly directory = mkdtempSync(join(tmpdir(), 'raindrop-etcd-'));
  private program = '';
  private cluster = '';
  private restored = 0;

  private constructor(private readonly options: EtcdOptions) {}

  /** @throws MissingForTests when etcd is not installed (Debian: etcd-server) */
  static async start(options: EtcdOptions = {}): Promise<EtcdServers> {
    const servers = new EtcdServers(options);
    try {
      servers.program = findProgram('etcd');
      const { stdout } = await run([servers.program, '--version']);
      servers.makeKeys();
      servers.version = /etcd Version: (\S+)/.exec(stdout)?.[1] ?? '';
      await servers.launch();
      return servers;
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  get endpoints(): string[] {
    return this.members.map(({ url }) => url);
  }

  /** Asks the gateway of a member. @throws Error with what it says when it refuses */
  async ask(
    path: string,
    body: object,
    member = this.members[0]!,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const signal = AbortSignal.timeout(ASK_MS);
    const response = await fetch(`${member.url}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal,
      headers,
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text) as Record<string, unknown>;
  }

  kill(member: EtcdMember): Promise<unknown> {
    return member.child.end('SIGKILL');
  }

  /** Starts a member that was ended. */
  async start(member: EtcdMember): Promise<void> {
    member.child = this.run(member);
    const isHealthy = (): Promise<boolean> => fetch(`${member.url}/health`).then(({ ok }) => ok);
    await until(`${member.name} to be healthy`, () => isHealthy().catch(() => false), { withinMs: READY_MS });
  }

  /** Once it answers a read that all members stand behind. */
  async untilReady(member: EtcdMember): Promise<void> {
    const answers = (): Promise<boolean> => this.ask('/v3/kv/range', { key: 'AA==' }, member).then(() => true);
    await until(`${member.name} to answer`, () => answers().catch(() => false), { withinMs: READY_MS });
  }

  async leader(): Promise<EtcdMember> {
    return until(
      'a leader',
      async () => {
        for (const member of this.members) {
          const status = await this.ask('/v3/maintenance/status', {}, member).catch(() => undefined);
          const id = (status?.['header'] as Record<string, unknown> | undefined)?.['member_id'];
          if (status !== undefined && id === status['leader']) return member;
        }
        return undefined;
      },
      { withinMs: READY_MS },
    );
  }

  /** Copies of all members' files; everything stands still meanwhile. */
  async backup(): Promise<string> {
    const copy = `${this.directory}-copy`;
    await Promise.all(this.members.map((member) => this.kill(member)));
    rmSync(copy, { recursive: true, force: true });
    await run(['cp', '-a', this.directory, copy]);
    await this.startAll();
    return copy;
  }

  /** Puts a copy back in place of everything. */
  async restore(copy: string): Promise<void> {
    await Promise.all(this.members.map((member) => this.kill(member)));
    rmSync(this.directory, { recursive: true, force: true });
    await run(['cp', '-a', copy, this.directory]);
    await this.startAll();
  }

  /** Keeps what is there now, without standing still. */
  async snapshot(): Promise<void> {
    const [member] = this.members;
    await this.tool(['--endpoints', member!.url, 'snapshot', 'save', `${this.directory}/snapshot`]);
  }

  /** Makes another cluster of the same members, with what was there at the snapshot. */
  async restoreSnapshot(): Promise<void> {
    await Promise.all(this.members.map((member) => this.kill(member)));
    const token = `restored-${++this.restored}`;
    for (const { name, peerUrl } of this.members) {
      const data = join(this.directory, name);
      rmSync(data, { recursive: true, force: true });
      const cluster = ['--initial-cluster', this.cluster, '--initial-cluster-token', token];
      const self = ['--name', name, '--initial-advertise-peer-urls', peerUrl, '--data-dir', data];
      await this.tool(['snapshot', 'restore', `${this.directory}/snapshot`, ...cluster, ...self]);
    }
    await this.startAll();
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ child }) => child.end('SIGKILL', STOP_MS)));
    for (const folder of [this.directory, `${this.directory}-copy`])
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }

  private async launch(): Promise<void> {
    const { count = 1, hosts } = this.options;
    const planned: Omit<EtcdMember, 'child'>[] = [];
    for (let index = 1; index <= count; index++) {
      const host = hosts?.addressOf(index) ?? '127.0.0.1';
      const urls = { url: `http://${host}:${await freePort()}`, peerUrl: `http://${host}:${await freePort()}` };
      planned.push({ name: `e${index}`, ...urls });
    }
    this.cluster = planned.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',');
    for (const each of planned) this.members.push({ ...each, child: this.run(each) });
    await Promise.all(this.members.map((member) => this.untilReady(member)));
  }

  /** With which tokens are signed. */
  private makeKeys(): void {
    if (this.options.signsTokens !== true) return;
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    writeFileSync(join(this.directory, 'public.pem'), publicKey);
    writeFileSync(join(this.directory, 'private.pem'), privateKey);
  }

  private tokenOptions(): string[] {
    if (this.options.signsTokens !== true) return [];
    const [publicKey, privateKey] = ['public.pem', 'private.pem'].map((file) => join(this.directory, file));
    return ['--auth-token', `jwt,pub-key=${publicKey},priv-key=${privateKey},sign-method=RS256`];
  }

  private async tool(args: readonly string[]): Promise<void> {
    const command = [findProgram('etcdctl'), ...args] as unknown as [string, ...string[]];
    const { code, stderr } = await run(command, { environment: { ETCDCTL_API: '3' } });
    if (code !== 0) throw new Error(`etcdctl ${args.join(' ')}: ${stderr}`);
  }

  private async startAll(): Promise<void> {
    for (const member of this.members) member.child = this.run(member);
    await Promise.all(this.members.map((member) => this.untilReady(member)));
  }

  private run({ name, url, peerUrl }: Omit<EtcdMember, 'child'>): Child {
    const { quotaBytes = 0, hosts } = this.options;
    const index = Number(name.slice(1));
    return new Child(
      [
        ...(hosts?.commandOn(index) ?? []),
        ...[this.program, '--name', name, '--data-dir', join(this.directory, name)],
        ...['--listen-client-urls', url, '--advertise-client-urls', url],
        ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ...['--initial-cluster', this.cluster, '--quota-backend-bytes', String(quotaBytes), '--log-level', 'error'],
        ...this.tokenOptions(),
      ] as unknown as [string, ...string[]],
      { environment: { ETCD_UNSUPPORTED_ARCH: process.arch } },
    );
  }
}
