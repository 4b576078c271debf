import type { Socket } from 'node:net';
import { TcpProxy, type Target } from '../../support/proxies/tcp-proxy.js';

/** A port that leads to another one, everything a little later. */
export class SlowWay extends TcpProxy {
  private constructor(
    target: Target,
    private readonly delayMs: number,
  ) {
    super(target);
  }

  /** @param delayMs in each direction */
  static to(port: number, delayMs: number): Promise<SlowWay> {
    return new SlowWay({ host: '127.0.0.1', port }, delayMs).listen();
  }

  protected override join(client: Socket): void {
    const later = (data: Buffer, to: Socket): void =>
      void setTimeout(() => to.writable && to.write(data), this.delayMs);
    this.lead(client, later, later);
  }

  protected override leave(socket: Socket): void {
    setTimeout(() => socket.destroy(), this.delayMs);
  }
}
