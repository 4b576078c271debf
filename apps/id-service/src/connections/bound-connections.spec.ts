import { once } from 'node:events';
import { connect, createServer, Socket, type AddressInfo } from 'node:net';
import { until } from '../../../../test/support/until.js';
import { boundConnections, UnreadAnswers } from './bound-connections.js';

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

const BOUNDS = { mostOfOne: 400, most: 1_000 };

describe('UnreadAnswers', () => {
  let unread: UnreadAnswers;

  beforeEach(() => {
    unread = new UnreadAnswers(BOUNDS);
  });

  /** A connection of which so much is unread, whatever was added. */
  const reader = (bytes: number): { socket: Socket; left: number } => {
    const made = { socket: new Socket(), left: bytes };
    unread.watch(made.socket, () => made.left);
    return made;
  };

  it('leaves connections alone whose answers are read, however many there are', () => {
    const all = [reader(0), reader(0)];
    for (let answer = 0; answer < 1_000; answer++) for (const { socket } of all) unread.add(socket, 300);
    expect(all.map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });

  it('cuts off the one that leaves too much', () => {
    const [greedy, other] = [reader(401), reader(400)];
    for (const { socket } of [greedy, other]) for (let answer = 0; answer < 5; answer++) unread.add(socket, 100);
    expect([greedy.socket.destroyed, other.socket.destroyed]).toEqual([true, false]);
    expect(() => unread.add(greedy.socket, 100)).not.toThrow();
  });

  it('cuts off those that leave the most when all together leave too much', () => {
    const all = [100, 390, 50, 380, 200].map(reader);
    for (const { socket, left } of all) unread.add(socket, left);
    expect(all.map(({ socket }) => socket.destroyed)).toEqual([false, true, false, true, false]);
  });

  it('forgets connections that are gone', async () => {
    for (let each = 0; each < 10; each++) {
      const { socket } = reader(390);
      unread.add(socket, 390);
      await new Promise((closed) => socket.once('close', closed).destroy());
    }
    const { socket } = reader(390);
    unread.add(socket, 390);
    expect(socket.destroyed).toBe(false);
  });
});
