import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import { Child } from '../processes/child';
import { run } from '../processes/run';
import { until } from '../until';
import { freePort } from './free-port';
import { natsProgram } from './nats-program';
import type { NetworkHosts } from './network-hosts';

const READY_MS = 60_000;
const WHOLE_MS = 12_000;
const TRIES = 4;
const STOP_MS = 10_000;
const ASK_MS = 5_000;

export interface NatsMember {
  readonly name: string;
  /** For clients: host and port. */
  readonly address: string;
  /** For the other members. */
  readonly route: string;
  child: Child;
}

export interface NatsOptions {
  readonly count?: number;
  /** Where the members are, one on each; ports of 127.0.0.1 when left out. */
  readonly hosts?: NetworkHosts;
  /** Default: true. */
  readonly hasJetStream?: boolean;
  /** More lines of each server's configuration. */
  readonly settings?: string;
}

/** The servers of a NATS of our own with JetStream, each in a directory of its own. */
export class NatsServers {
  readonly members: NatsMember[] = [];
  version = '';
  private readonly directory = mkdtempSync(join(tmpdir(), 'raindrop-nats-'));
  private program = '';

  private constructor(private readonly options: NatsOptions) {}

  /** @throws MissingForTests when nats-server cannot be had */
  static async start(options: NatsOptions = {}): Promise<NatsServers> {
    const servers = new NatsServers(options);
    try {
      servers.program = natsProgram();
      const { stdout } = await run([servers.program, '--version']);
      servers.version = /v(\d\S*)/.exec(stdout)?.[1] ?? '';
      await servers.launch();
      return servers;
    } catch (error) {
      await servers.stop();
      throw error;
    }
  }

  get addresses(): string[] {
    return this.members.map(({ address }) => address);
  }

  /** A connection of the caller's to one member. */
  connect(member = this.members[0]!, options: NodeConnectionOptions = {}): Promise<NatsConnection> {
    return connect({ servers: member.address, reconnect: false, timeout: ASK_MS, ...options });
  }

  /** Asks JetStream's interface. @throws Error with what it says when it refuses */
  async ask(subject: string, body: object = {}, member = this.members[0]!): Promise<Record<string, unknown>> {
    const connection = await this.connect(member);
    try {
      const answer = await connection.request(`$JS.API.${subject}`, JSON.stringify(body), { timeout: ASK_MS });
      const said = answer.json<Record<string, unknown>>();
      const { error } = said as { error?: { description?: string } };
      if (error !== undefined) throw new Error(error.description);
      return said;
    } finally {
      await connection.close();
    }
  }

  kill(member: NatsMember): Promise<unknown> {
    return member.child.end('SIGKILL');
  }

  /** Starts a member that was ended. */
  async start(member: NatsMember): Promise<void> {
    member.child = this.run(member);
    await this.untilReady(member);
  }

  /** Once JetStream answers there. */
  async untilReady(member: NatsMember): Promise<void> {
    const { hasJetStream = true } = this.options;
    const answers = (): Promise<boolean> =>
      hasJetStream
        ? this.ask('INFO', {}, member).then(() => true)
        : this.connect(member).then((connection) => connection.close().then(() => true));
    await until(`${member.name} to answer`, () => answers().catch(() => false), { withinMs: READY_MS });
  }

  /** The member that leads a stream. */
  async leader(stream: string): Promise<NatsMember> {
    return until(
      'a leader',
      async () => {
        for (const member of this.members) {
          const info = await this.ask(`STREAM.INFO.${stream}`, {}, member).catch(() => undefined);
          const { leader } = Object(info?.['cluster']) as { leader?: string };
          const leading = this.members.find(({ name }) => name === leader);
          if (leading !== undefined) return leading;
        }
        return undefined;
      },
      { withinMs: READY_MS },
    );
  }

  /** Copies of all members' files; everything stands still meanwhile. */
  async backup(): Promise<string> {
    const copy = `${this.directory}-copy`;
    await this.killAll();
    rmSync(copy, { recursive: true, force: true });
    await run(['cp', '-a', this.directory, copy]);
    await this.startAll();
    return copy;
  }

  /** Puts a copy back in place of everything. */
  async restore(copy: string): Promise<void> {
    await this.killAll();
    rmSync(this.directory, { recursive: true, force: true });
    await run(['cp', '-a', copy, this.directory]);
    await this.startAll();
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map(({ child }) => child.end('SIGKILL', STOP_MS)));
    for (const folder of [this.directory, `${this.directory}-copy`]) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  }

  async killAll(): Promise<void> {
    await Promise.all(this.members.map((member) => this.kill(member)));
  }

  async startAll(): Promise<void> {
    for (const member of this.members) member.child = this.run(member);
    await Promise.all(this.members.map((member) => this.untilReady(member)));
  }

  private async launch(): Promise<void> {
    const { count = 1, hosts, hasJetStream = true, settings = '' } = this.options;
    const planned: Omit<NatsMember, 'child'>[] = [];
    for (let index = 1; index <= count; index++) {
      const host = hosts?.addressOf(index) ?? '127.0.0.1';
      planned.push({ name: `n${index}`, address: `${host}:${await freePort()}`, route: `${host}:${await freePort()}` });
    }
    for (const member of planned) {
      const { name, address, route } = member;
      const others = planned.filter((other) => other !== member);
      const routes = others.map((other) => `nats://${other.route}`).join(', ');
      const cluster = count > 1 ? `cluster { name: test, listen: "${route}", routes: [${routes}] }` : '';
      const jetstream = hasJetStream ? `jetstream { store_dir: "${join(this.directory, name)}" }` : '';
      const lines = [`server_name: ${name}`, `listen: "${address}"`, jetstream, cluster, settings];
      writeFileSync(this.configurationOf(member), lines.join('\n'));
      this.members.push({ ...member, child: this.run(member) });
    }
    await Promise.all(this.members.map((member) => this.untilReady(member)));
    if (count > 1) await this.becomeWhole();
  }

  /** One start of 20 leaves the leader without news of the others for more than a minute: all start once more then. */
  private async becomeWhole(): Promise<void> {
    const probe = { name: 'probe', subjects: ['probe'], num_replicas: this.members.length };
    const isWhole = (): Promise<boolean> => this.ask('STREAM.CREATE.probe', probe).then(() => true);
    for (let tries = 1; ; tries++) {
      try {
        await until('a whole cluster', () => isWhole().catch(() => false), { withinMs: WHOLE_MS });
        await this.ask('STREAM.DELETE.probe');
        return;
      } catch (error) {
        if (tries === TRIES) throw error;
      }
      await this.killAll();
      await this.startAll();
    }
  }

  private configurationOf({ name }: Omit<NatsMember, 'child'>): string {
    return join(this.directory, `${name}.conf`);
  }

  private run(member: Omit<NatsMember, 'child'>): Child {
    const command = this.options.hosts?.commandOn(Number(member.name.slice(1))) ?? [];
    return new Child([...command, this.program, '-c', this.configurationOf(member)] as unknown as [
      string,
      ...string[],
    ]);
  }
}
