import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Where a server listens. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What becomes of data on its way. */
export type Pass = (data: Buffer, to: Socket) => void;

const atOnce: Pass = (data, to) => void to.write(data);

/** A port of 127.0.0.1 that leads to a server. Everything passes; classes that extend this one stand in its way. */
export class TcpProxy {
  /** How many clients have come. */
  connections = 0;
  protected readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((client) => {
    this.connections++;
    this.join(this.keep(client));
  });

  constructor(protected readonly target: Target) {}

  static async start<P extends TcpProxy>(this: new (target: Target) => P, target: Target): Promise<P> {
    return new this(target).listen();
  }

  async listen(port = 0): Promise<this> {
    await once(this.server.listen(port, '127.0.0.1'), 'listening');
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** How many sockets are open, those to the server included. */
  get open(): number {
    return this.sockets.size;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Cuts all connections and refuses later ones. Safe to call twice. */
  async stop(): Promise<void> {
    this.cut();
    if (this.server.listening) await once(this.server.close(), 'close');
  }

  /** A client has come. */
  protected join(client: Socket): void {
    this.lead(client);
  }

  /** Leads a client to the server, and each of the two away when the other goes. */
  protected lead(client: Socket, up: Pass = atOnce, down: Pass = atOnce): void {
    const server = this.keep(connect(this.target));
    client.on('data', (data) => up(data, server)).on('close', () => this.leave(server));
    server.on('data', (data) => down(data, client)).on('close', () => this.leave(client));
  }

  /** The other end of this one's way has gone. */
  protected leave(socket: Socket): void {
    socket.destroy();
  }

  protected keep(socket: Socket): Socket {
    this.sockets.add(socket.setNoDelay());
    return socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
  }
}
