import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { SayNo } from './refusal-packets.js';

/** What a server does with a connection that it has refused. */
export const ENDINGS = ['closes it', 'resets it', 'leaves it open'] as const;

export type Ending = (typeof ENDINGS)[number];

/** The way to a server that at times answers in its place, with a refusal. */
export class RefusingProxy {
  private readonly sockets = new Set<Socket>();
  private refusal: { readonly sayNo: SayNo; readonly ending: Ending } | undefined;
  private refused = 0;

  private constructor(
    private readonly server: Server,
    target: { readonly host: string; readonly port: number },
  ) {
    server.on('connection', (client) => {
      this.keep(client);
      if (this.refusal !== undefined) return this.turnAway(client, this.refusal);
      const upstream = this.keep(connect(target));
      client.on('close', () => upstream.destroy()).pipe(upstream);
      upstream.on('close', () => client.destroy()).pipe(client);
    });
  }

  static async start(target: { readonly host: string; readonly port: number }): Promise<RefusingProxy> {
    const server = createServer();
    const proxy = new RefusingProxy(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** How many connections were refused. */
  get refusals(): number {
    return this.refused;
  }

  /** How many connections are open, those to the server included. */
  get open(): number {
    return this.sockets.size;
  }

  /** Cuts what is connected and refuses whoever comes. */
  refuse(sayNo: SayNo, ending: Ending): void {
    this.refusal = { sayNo, ending };
    for (const socket of this.sockets) socket.destroy();
  }

  heal(): void {
    this.refusal = undefined;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    return socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
  }

  private turnAway(client: Socket, { sayNo, ending }: { sayNo: SayNo; ending: Ending }): void {
    client.resume();
    sayNo(client, () => {
      this.refused++;
      if (ending === 'closes it') client.end();
      // Not at once: what a reset overtakes is never read.
      if (ending === 'resets it') setTimeout(() => client.resetAndDestroy(), 20);
    });
  }
}
