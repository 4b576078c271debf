import type { Socket } from 'node:net';
import type { WriteTraffic } from './write-traffic.js';

/** What is to happen to the next write. */
export interface WriteFault {
  readonly kind: 'cutBefore' | 'unanswered' | 'late';
  /** How long after the client's leave a `late` request is delivered. */
  readonly afterMs: number;
}

export interface ConnectionHooks {
  readonly traffic: WriteTraffic;
  /** The fault for this write, if there is one. */
  takeWriteFault(): WriteFault | undefined;
  /** How long what arrives now is held up. */
  delayMs(): number;
  fired(kind: 'cutBefore' | 'unanswered' | 'late' | 'ghost' | 'halfOpen' | 'delayed'): void;
  closed(): void;
}

/** A server forgets a client that it never heard leaving after a while. */
const LINGER_MS = 3_000;

/** One client's way to the server and back. */
export class ProxiedConnection {
  private isSilent = false;
  private isOver = false;
  /** The fault that this connection ends with, its write, and what has come back. */
  private fault: WriteFault | undefined;
  private readonly held: Buffer[] = [];
  private answer = Buffer.alloc(0);
  private clientHasLeft = false;
  private lastDelivery = 0;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly hooks: ConnectionHooks,
  ) {
    client.setNoDelay(true);
    server.setNoDelay(true);
    client.on('data', (data) => this.fromClient(data));
    server.on('data', (data) => this.fromServer(data));
    client.on('error', () => undefined);
    server.on('error', () => undefined);
    client.on('close', () => this.onClientLeft());
    server.on('close', () => this.cut());
  }

  /** Nothing arrives any more, and neither side is told. */
  silence(): void {
    this.isSilent = true;
  }

  /** Both ends see a reset. */
  cut(): void {
    if (this.isOver) return;
    this.isOver = true;
    // A reset of a socket that is shutting down fails, and leaves Node waiting for it for ever when it ends.
    if (this.client.writableEnded) this.client.destroy();
    else this.client.resetAndDestroy();
    this.server.destroy();
    this.hooks.closed();
  }

  private fromClient(data: Buffer): void {
    if (this.isOver) return;
    if (this.isSilent) return this.hooks.fired('halfOpen');
    if (this.fault === undefined && this.hooks.traffic.isWrite(data)) this.fault = this.hooks.takeWriteFault();
    if (this.fault?.kind === 'cutBefore') {
      this.cut();
      return this.hooks.fired('cutBefore');
    }
    if (this.fault?.kind === 'late') this.held.push(data);
    else this.deliver(this.server, data);
  }

  private fromServer(data: Buffer): void {
    if (this.isOver || this.isSilent) return;
    const { fault } = this;
    if (fault === undefined) return this.deliver(this.client, data);
    this.answer = Buffer.concat([this.answer, data]);
    const changed = this.hooks.traffic.hasChanged(this.answer);
    if (changed === undefined) return;
    this.cut();
    // A write that found things changed leaves no caller in doubt.
    if (fault.kind === 'unanswered' && changed) this.hooks.fired('unanswered');
    if (fault.kind === 'late') {
      this.hooks.fired('late');
      if (changed) this.hooks.fired('ghost');
    }
  }

  /** In order, also when the delay ends in between. */
  private deliver(to: Socket, data: Buffer): void {
    const delayMs = this.hooks.delayMs();
    if (delayMs > 0) this.hooks.fired('delayed');
    const now = performance.now();
    const at = Math.max(now + delayMs, this.lastDelivery);
    if (at <= now) {
      to.write(data);
      return;
    }
    this.lastDelivery = at;
    setTimeout(() => !to.destroyed && to.write(data), at - now);
  }

  private onClientLeft(): void {
    if (this.isOver || this.clientHasLeft) return;
    this.clientHasLeft = true;
    if (this.fault?.kind === 'late' && !this.isSilent) {
      setTimeout(() => !this.isOver && this.server.write(Buffer.concat(this.held)), this.fault.afterMs);
    }
    // What was delayed on the way still arrives; of a silent client the server hears nothing.
    else if (this.isSilent) setTimeout(() => this.cut(), LINGER_MS).unref();
    else setTimeout(() => this.cut(), Math.max(0, this.lastDelivery - performance.now()) + 1);
  }
}
