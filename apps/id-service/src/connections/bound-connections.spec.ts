import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { boundConnections } from './bound-connections.js';
import { until } from '../../../../test/support/until.js';

it('drops the connections of an address that has many, until others of it are gone', async () => {
  const server = createServer((socket) => void socket.on('error', () => undefined).resume());
  boundConnections(server, { most: 100, mostOfOne: 3 });
  await once(server.listen(0, '::'), 'listening');
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  const open = (localAddress: string): Socket => {
    const host = localAddress === '::1' ? '::1' : '127.0.0.1';
    const client = connect({ port, host, localAddress }).on('error', () => undefined);
    clients.push(client.resume());
    return client;
  };
  const stays = async (client: Socket): Promise<boolean> => {
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const [socket] = await accepted;
    if (socket.destroyed) await once(client, 'close');
    return !socket.destroyed;
  };
  const found: boolean[] = [];
  for (const address of ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2', '::1']) {
    found.push(await stays(open(address)));
  }
  expect(found).toEqual([true, true, true, false, true, true]);
  clients[0]!.destroy();
  await until('the server to know', async () => stays(open('127.0.0.1')));
  expect(server.maxConnections).toBe(100);
  for (const client of clients) client.destroy();
  server.close();
});
