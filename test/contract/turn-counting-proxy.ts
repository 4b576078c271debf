import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

/** A TCP proxy that counts round trips: how often a client spoke after it had been answered. */
export interface TurnCountingProxy {
  readonly port: number;
  readonly turns: number;
  stop(): Promise<void>;
}

export async function turnCountingProxy(target: { host: string; port: number }): Promise<TurnCountingProxy> {
  let turns = 0;
  const server = createServer((client) => {
    const upstream = connect(target);
    let isAnswered = true;
    client.on('data', (data) => {
      if (isAnswered) turns++;
      isAnswered = false;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      isAnswered = true;
      client.write(data);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get turns() {
      return turns;
    },
    stop: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}
