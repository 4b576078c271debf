import type { Server, Socket } from 'node:net';
import { networkOf } from './network-of.js';

export interface ConnectionBounds {
  readonly most: number;
  /** Of one address (IPv6: of one network of 64 bits). */
  readonly mostOfOne: number;
}

/**
 * Drops connections beyond these bounds, so that they cannot use up the process, nor one address the places of all.
 */
export function boundConnections(server: Server, { most, mostOfOne }: ConnectionBounds): void {
  const counts = new Map<string, number>();
  server.maxConnections = most;
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress ?? '');
    const count = (counts.get(network) ?? 0) + 1;
    counts.set(network, count);
    socket.once('close', () => {
      const left = counts.get(network)! - 1;
      if (left === 0) counts.delete(network);
      else counts.set(network, left);
    });
    if (count > mostOfOne) socket.destroy();
  });
}
