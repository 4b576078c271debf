import { run } from '../processes/run';
import { MissingForTests } from '../jest/missing-for-tests';

const CAN_WAIT_MS = 10_000;

/**
 * Hosts on one machine: namespaces of the network that this run makes, each with an address behind one bridge, at which
 * this process reaches them. They go with {@link stop}.
 */
export class NetworkHosts {
  private readonly names: string[] = [];
  private readonly bridge: string;

  private constructor(private readonly subnet: number) {
    this.bridge = `rdbr${subnet}`;
  }

  /** @throws MissingForTests where namespaces are not allowed */
  static async start(count: number): Promise<NetworkHosts> {
    // No route leads there by default; another run at the same time has another number.
    const hosts = new NetworkHosts(process.pid % 250);
    try {
      const { bridge } = hosts;
      await ip(['link', 'add', bridge, 'type', 'bridge']);
      await ip(['addr', 'add', `${hosts.addressOf(0)}/24`, 'dev', bridge]);
      await ip(['link', 'set', bridge, 'up']);
      for (let index = 1; index <= count; index++) await hosts.add(index);
      return hosts;
    } catch (error) {
      await hosts.stop();
      throw new MissingForTests('network namespaces', String(error));
    }
  }

  /** Of this process: 0; of the hosts: from 1 on. */
  addressOf(host: number): string {
    return `10.213.${this.subnet}.${host + 1}`;
  }

  /** What runs a command on a host. */
  commandOn(host: number): string[] {
    return ['ip', 'netns', 'exec', this.names[host - 1]!];
  }

  /** Cuts a host off from the others, or lets it reach them again; this process reaches it all the time. */
  async cut(host: number, isCut: boolean): Promise<void> {
    const others = this.names.map((_, index) => index + 1).filter((other) => other !== host);
    for (const other of others) {
      const route = ['route', isCut ? 'add' : 'del', 'blackhole', `${this.addressOf(other)}/32`];
      await ip(['-n', this.names[host - 1]!, ...route]);
    }
  }

  async stop(): Promise<void> {
    for (const name of this.names.splice(0)) await ip(['netns', 'del', name]).catch(() => undefined);
    await ip(['link', 'del', this.bridge]).catch(() => undefined);
  }

  private async add(index: number): Promise<void> {
    const { bridge, subnet } = this;
    const [name, outside] = [`rd${subnet}-${index}`, `rdv${subnet}-${index}`];
    await ip(['netns', 'add', name]);
    this.names.push(name);
    await ip(['link', 'add', outside, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name]);
    await ip(['link', 'set', outside, 'master', bridge, 'up']);
    for (const args of [
      ['link', 'set', 'lo', 'up'],
      ['addr', 'add', `${this.addressOf(index)}/24`, 'dev', 'eth0'],
      ['link', 'set', 'eth0', 'up'],
    ]) {
      await ip(['-n', name, ...args]);
    }
  }
}

async function ip(args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(['ip', ...args], { withinMs: CAN_WAIT_MS });
  if (code !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr.trim()}`);
}
