import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../servers/free-port.js';

/** One address for whichever server is the primary, as a load balancer or a moved IP address gives it. */
export class TcpSwitch {
  private readonly sockets = new Set<Socket>();
  private target: number | undefined;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {
    server.on('connection', (client) => this.join(client));
  }

  static async start(): Promise<TcpSwitch> {
    const port = await freePort();
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new TcpSwitch(server, port);
  }

  /** Connections lead to this port of 127.0.0.1 from now on, or nowhere; those that lead elsewhere are cut. */
  pointTo(port: number | undefined): void {
    this.target = port;
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.pointTo(undefined);
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    if (this.target === undefined) {
      client.destroy();
      return;
    }
    const server = connect(this.target, '127.0.0.1');
    const pair = [client, server];
    for (const socket of pair) {
      this.sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        pair.forEach((each) => each.destroy());
        this.sockets.delete(socket);
      });
    }
    client.pipe(server).pipe(client);
  }
}
