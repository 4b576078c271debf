import type { Socket } from 'node:net';
import { TcpProxy, type Target } from '../proxies/tcp-proxy.js';

class UnansweredInsert extends TcpProxy {
  private wasDone = false;

  protected override join(client: Socket): void {
    let isSilent = false;
    this.lead(
      client,
      (data, server) => {
        server.write(data);
        if (!this.wasDone && data.includes('INSERT INTO')) isSilent = this.wasDone = true;
      },
      (data) => void (isSilent || client.write(data)),
    );
  }
}

/** A TCP proxy that delivers the first INSERT, and then nothing any more on that connection. */
export function unansweredInsert(target: Target): Promise<TcpProxy> {
  return UnansweredInsert.start(target);
}
