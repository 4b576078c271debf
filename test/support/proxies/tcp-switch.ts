import type { Socket } from 'node:net';
import { TcpProxy } from './tcp-proxy.js';
import { freePort } from '../servers/free-port.js';

/** One address for whichever server is the primary, as a load balancer or a moved IP address gives it. */
export class TcpSwitch extends TcpProxy {
  private readonly to: { host: string; port: number };

  private constructor() {
    const target = { host: '127.0.0.1', port: 0 };
    super(target);
    this.to = target;
  }

  static async atFreePort(): Promise<TcpSwitch> {
    return new TcpSwitch().listen(await freePort());
  }

  /** Connections lead to this port of 127.0.0.1 from now on, or nowhere; those that lead elsewhere are cut. */
  pointTo(port = 0): void {
    this.to.port = port;
    this.cut();
  }

  /** New connections lead to this port from now on; those that are there go on, as behind a careless load balancer. */
  pointNewOnesTo(port: number): void {
    this.to.port = port;
  }

  protected override join(client: Socket): void {
    if (this.to.port === 0) client.destroy();
    else this.lead(client);
  }
}
