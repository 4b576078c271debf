import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy that stops delivering, as a firewall that forgets a connection does: nobody is told. */
export class FlakyProxy {
  private readonly sockets = new Set<Socket>();
  /** Bytes that still come back from the server before silence. */
  private budget = Number.POSITIVE_INFINITY;
  private lost = 0;

  private constructor(
    private readonly server: Server,
    target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (client) => this.join(client, connect(target)));
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<FlakyProxy> {
    const server = createServer();
    const proxy = new FlakyProxy(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Connections that clients have open. */
  get open(): number {
    return this.sockets.size / 2;
  }

  /** How often something was not delivered. */
  get swallowed(): number {
    return this.lost;
  }

  /** Goes silent after so many more bytes of the server's. */
  silenceAfter(bytes: number): void {
    this.budget = bytes;
  }

  /** New connections work again; the silent ones stay silent. */
  recover(): void {
    this.budget = Number.POSITIVE_INFINITY;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket, server: Socket): void {
    let isSilent = false;
    const end = (): void => {
      for (const socket of [client, server]) {
        socket.destroy();
        this.sockets.delete(socket);
      }
    };
    for (const socket of [client, server]) {
      this.sockets.add(socket);
      socket.on('error', end);
      socket.on('close', end);
    }
    server.on('data', (data) => {
      isSilent ||= this.budget < data.length;
      this.budget -= data.length;
      if (isSilent) this.lost++;
      else client.write(data);
    });
    client.on('data', (data) => {
      isSilent ||= this.budget <= 0;
      if (isSilent) this.lost++;
      else server.write(data);
    });
  }
}
