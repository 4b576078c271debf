import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A port that leads to another one, everything a little later. */
export interface SlowWay {
  readonly port: number;
  close(): Promise<void>;
}

/** @param delayMs in each direction */
export async function openSlowWay(to: number, delayMs: number): Promise<SlowWay> {
  const sockets = new Set<Socket>();
  const later = (from: Socket, into: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (chunk) => void setTimeout(() => into.writable && into.write(chunk), delayMs));
    from.on('error', () => undefined);
    from.on('close', () => {
      sockets.delete(from);
      setTimeout(() => into.destroy(), delayMs);
    });
  };
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    later(near, far);
    later(far, near);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}
