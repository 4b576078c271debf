import { connect, type Socket } from 'node:net';
import { TcpProxy, type Target } from '../../support/proxies/tcp-proxy.js';
import { ProxiedConnection, type WriteFault } from './proxied-connection.js';
import type { WriteTraffic } from './write-traffic.js';

/** What a proxy counts, each when it has come about. */
export type ProxyFault = 'refused' | 'halfOpen' | 'delayed' | 'cutBefore' | 'unanswered' | 'late' | 'ghost';

/**
 * The way of one process to a server, with everything that can go wrong on it.
 *
 * `refused`, `halfOpen` and `delayed` last for a while and count once; the others happen to one write.
 */
export class FaultProxy extends TcpProxy {
  private readonly ways = new Set<ProxiedConnection>();
  /** Clients that were accepted into silence. */
  private readonly unheard = new Set<Socket>();
  private refusing = false;
  private silent = false;
  private delayMs = 0;
  private writeFault: WriteFault | undefined;
  /** The lasting faults that have been counted since they began. */
  private readonly counted = new Set<ProxyFault>();

  private constructor(
    target: Target,
    private readonly traffic: WriteTraffic,
    private readonly fired: (fault: ProxyFault) => void,
  ) {
    super(target);
  }

  static before(target: Target, traffic: WriteTraffic, fired: (fault: ProxyFault) => void): Promise<FaultProxy> {
    return new FaultProxy(target, traffic, fired).listen();
  }

  /** Resets all connections, new ones too, until it is called with false. */
  refuse(on: boolean): void {
    this.refusing = on;
    this.counted.delete('refused');
    if (on) this.cutAll();
  }

  /** Swallows everything without closing anything. What was silent stays so for ever; new connections work again. */
  halfOpen(on: boolean): void {
    this.silent = on;
    if (on) {
      this.counted.delete('halfOpen');
      for (const each of this.ways) each.silence();
    }
  }

  /** Holds up whatever passes by so much, both ways; 0 ends it. */
  delay(byMs: number): void {
    this.delayMs = byMs;
    if (byMs > 0) this.counted.delete('delayed');
  }

  /** What happens to the next write. */
  nextWrite(fault: WriteFault): void {
    this.writeFault = fault;
  }

  /** Whether the next write's fault still waits for it. */
  get isArmed(): boolean {
    return this.writeFault !== undefined;
  }

  /** How many clients have connected while the proxy listens to none. */
  get unheardClients(): number {
    return this.unheard.size;
  }

  /** Takes back a fault that has found no write. */
  forget(fault: WriteFault): void {
    if (this.writeFault === fault) this.writeFault = undefined;
  }

  /** Every fault ends; requests that are held for a `late` delivery still come. */
  heal(): void {
    this.refuse(false);
    this.halfOpen(false);
    this.delay(0);
    this.writeFault = undefined;
  }

  override stop(): Promise<void> {
    this.cutAll();
    return super.stop();
  }

  protected override join(client: Socket): void {
    if (this.refusing) {
      client.resetAndDestroy();
      return this.count('refused');
    }
    if (this.silent) return this.ignore(client);
    const connection = new ProxiedConnection(client, connect(this.target), {
      traffic: this.traffic,
      takeWriteFault: () => {
        const fault = this.writeFault;
        this.writeFault = undefined;
        return fault;
      },
      delayMs: () => this.delayMs,
      fired: (fault) => this.count(fault),
      closed: () => this.ways.delete(connection),
    });
    this.ways.add(connection);
  }

  private ignore(client: Socket): void {
    this.unheard.add(client);
    client.on('close', () => this.unheard.delete(client));
    // Read, or the client's leave would not be noticed.
    client.resume();
    this.count('halfOpen');
  }

  private count(fault: ProxyFault): void {
    const lasts = fault === 'refused' || fault === 'halfOpen' || fault === 'delayed';
    if (lasts && this.counted.has(fault)) return;
    if (lasts) this.counted.add(fault);
    this.fired(fault);
  }

  private cutAll(): void {
    for (const each of [...this.ways]) each.cut();
  }
}
