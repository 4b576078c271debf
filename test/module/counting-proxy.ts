import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The way to a server that counts who comes, and can be closed. */
export interface CountingProxy {
  readonly port: number;
  readonly connections: number;
  /** Cuts all connections; whoever comes later is refused. */
  close(): Promise<void>;
}

export async function countingProxy(target: { host: string; port: number }): Promise<CountingProxy> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections++;
    const upstream = connect(target);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get connections() {
      return connections;
    },
    async close() {
      for (const each of sockets) each.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}
