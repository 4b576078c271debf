import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP proxy that delivers the first INSERT, and then nothing any more on that connection. */
export async function unansweredInsert(target: {
  readonly host: string;
  readonly port: number;
}): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  let wasDone = false;
  const server = createServer((client) => {
    const upstream = connect(target);
    let isSilent = false;
    const end = (): void => [client, upstream].forEach((socket) => socket.destroy());
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (data) => {
      upstream.write(data);
      if (wasDone || !data.includes('INSERT INTO')) return;
      isSilent = wasDone = true;
    });
    upstream.on('data', (data) => !isSilent && client.write(data));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
      await once(server, 'close');
    },
  };
}
