import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { ConnectionSockets } from './connection-sockets.js';

const GONE = new Error('dropped');

function made(sockets: ConnectionSockets, given?: unknown): Socket {
  return sockets.factory('postgres', given)({} as never) as Socket;
}

describe('the sockets of a connection', () => {
  it('are dropped all together', async () => {
    const sockets = new ConnectionSockets();
    const all = [made(sockets), made(sockets)];
    const errors = all.map((socket) => once(socket, 'error'));
    expect(sockets.isLost).toBe(false);
    sockets.destroy(GONE);
    expect(sockets.isLost).toBe(true);
    expect(await Promise.all(errors)).toEqual([[GONE], [GONE]]);
  });

  it('are dropped also when a driver asks for one after that', async () => {
    const sockets = new ConnectionSockets();
    sockets.destroy(GONE);
    const late = made(sockets);
    expect(await once(late, 'error')).toEqual([GONE]);
  });

  it('come from the factory that the application gave its driver', async () => {
    const sockets = new ConnectionSockets();
    // A tunnel that is no socket: it has neither ref nor unref.
    const tunnel = new Duplex({ read: () => undefined });
    expect(made(sockets, () => tunnel)).toBe(tunnel);
    sockets.hold();
    sockets.letGo();
    sockets.destroy(GONE);
    expect(await once(tunnel, 'error')).toEqual([GONE]);
  });

  it('are lost when one of them closes', async () => {
    const sockets = new ConnectionSockets();
    const socket = made(sockets);
    socket.destroy();
    await once(socket, 'close');
    expect(sockets.isLost).toBe(true);
  });

  it('cost no more than themselves when a driver throws at what it hears from them', async () => {
    const sockets = new ConnectionSockets();
    const socket = made(sockets);
    const driver = new EventEmitter();
    // As mysql2 passes it on, with or without somebody who listens.
    socket.on('error', (error) => driver.emit('error', error));
    socket.on('data', () => driver.emit('error', new Error('out of order')));
    expect(socket.emit('data', 'a packet')).toBe(true);
    expect(socket.destroyed).toBe(true);
    await once(socket, 'close');
    expect(socket.emit('error', GONE)).toBe(true);
    expect(sockets.isLost).toBe(true);
  });

  it('keep the process alive from the first call to the end of the last', () => {
    const sockets = new ConnectionSockets();
    const socket = made(sockets);
    const [ref, unref] = [jest.spyOn(socket, 'ref'), jest.spyOn(socket, 'unref')];
    sockets.hold();
    sockets.hold();
    sockets.letGo();
    expect([ref.mock.calls.length, unref.mock.calls.length]).toEqual([1, 0]);
    sockets.letGo();
    expect([ref.mock.calls.length, unref.mock.calls.length]).toEqual([1, 1]);
    sockets.destroy(GONE);
    socket.on('error', () => undefined);
  });
});
