import type { Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy.js';

/** A TCP proxy that stops delivering, as a firewall that forgets a connection does: neither side is told. */
export class FlakyProxy extends TcpProxy {
  /** How often something was not delivered. */
  swallowed = 0;
  /** Bytes that still come back from the server before silence. */
  private budget = Number.POSITIVE_INFINITY;

  /** Connections that clients have open. */
  override get open(): number {
    return super.open / 2;
  }

  /** Goes silent after so many more bytes of the server's. */
  silenceAfter(bytes: number): void {
    this.budget = bytes;
  }

  /** New connections work again; the silent ones stay silent. */
  recover(): void {
    this.budget = Number.POSITIVE_INFINITY;
  }

  protected override join(client: Socket): void {
    let isSilent = false;
    const deliver = (data: Buffer, to: Socket): void => {
      if (isSilent) this.swallowed++;
      else to.write(data);
    };
    this.lead(
      client,
      (data, server) => {
        isSilent ||= this.budget <= 0;
        deliver(data, server);
      },
      (data) => {
        isSilent ||= this.budget < data.length;
        this.budget -= data.length;
        deliver(data, client);
      },
    );
  }
}
