import type { Socket } from 'node:net';
import { TcpProxy, type Target } from './tcp-proxy.js';

class TurnCountingProxy extends TcpProxy {
  turns = 0;

  protected override join(client: Socket): void {
    let isAnswered = true;
    this.lead(
      client,
      (data, server) => {
        if (isAnswered) this.turns++;
        isAnswered = false;
        server.write(data);
      },
      (data) => {
        isAnswered = true;
        client.write(data);
      },
    );
  }
}

/** A TCP proxy that counts round trips: how often a client spoke after it had been answered. */
export function turnCountingProxy(target: Target): Promise<TurnCountingProxy> {
  return TurnCountingProxy.start(target);
}
