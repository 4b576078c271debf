import { setTimeout as sleep } from 'node:timers/promises';
import { TcpSwitch } from '../../../support/proxies/tcp-switch.js';

const EVERY_MS = 300;

/** Whether a server takes connections that are to reach it; a failure is a no. */
export type IsGood = (port: number) => Promise<boolean>;

/** Addresses that lead to a server that is good, and to another one as soon as it is not: a load balancer's. */
export class WatchedSwitches {
  private readonly where: (number | undefined)[];
  private isOver = false;
  private lateSince: number | undefined;
  private readonly watching: Promise<void>;

  private constructor(
    private readonly switches: readonly TcpSwitch[],
    private readonly servers: readonly number[],
    private readonly isGood: IsGood,
    private readonly lateMs: number,
  ) {
    this.where = switches.map(() => undefined);
    this.watching = this.watch();
  }

  /**
   * @param servers their ports; each switch prefers another one of them
   * @param lateMs so much later the first switch learns of a server than the others
   */
  static async start(count: number, servers: readonly number[], isGood: IsGood, lateMs = 0): Promise<WatchedSwitches> {
    const switches = await Promise.all(Array.from({ length: count }, () => TcpSwitch.atFreePort()));
    return new WatchedSwitches(switches, servers, isGood, lateMs);
  }

  /** The port of an address. */
  port(index: number): number {
    return this.switches[index]!.port;
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.watching;
    await Promise.all(this.switches.map((each) => each.stop()));
  }

  /** Whether an address learns of it later than the others. */
  private isToWait(index: number, next: number | undefined): boolean {
    if (index > 0 || next === undefined || this.lateMs === 0) return false;
    this.lateSince ??= performance.now();
    if (performance.now() - this.lateSince < this.lateMs) return true;
    this.lateSince = undefined;
    return false;
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      const answers = await Promise.all(this.servers.map((port) => this.isGood(port).catch(() => false)));
      const good = this.servers.filter((_, index) => answers[index]);
      this.switches.forEach((each, index) => {
        if (good.includes(this.where[index]!)) return;
        const next = good[index % Math.max(1, good.length)];
        const to = this.isToWait(index, next) ? undefined : next;
        if (to === this.where[index]) return;
        this.where[index] = to;
        each.pointTo(to);
      });
      await sleep(EVERY_MS);
    }
  }
}
