import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type Connection, SessionAge } from './database-connection.js';
import { postgresDialect } from './postgres-dialect.js';
import { ConnectionSockets } from './connection-sockets.js';
import { mysqlDialect } from './mysql-dialect.js';

const MAX_MS = 27_000;

const NO_LIMIT = Number.POSITIVE_INFINITY;

const connection = (): Connection => ({}) as Connection;

describe('The age of a session', () => {
  it('is the larger of what the server tells and what we count', () => {
    const age = new SessionAge();
    const one = connection();
    expect(age.of(one, 10, 12)).toBe(12);
    expect(age.of(one, 9_000, 4_000)).toBe(9_000);
  });

  it('is that of the server when the difference grows: nothing is pooled any more', () => {
    const age = new SessionAge();
    const one = connection();
    age.of(one, 10, 12);
    expect(age.of(one, 20, 6_020)).toBe(6_020);
    expect(age.isPooled).toBe(false);
  });

  it('is none where two connections in a row are younger than their sessions', () => {
    const age = new SessionAge();
    const [first, second] = [connection(), connection()];
    expect(age.of(first, 10, 5_020)).toBe(NO_LIMIT);
    expect(age.of(first, 20, 5_030)).toBe(NO_LIMIT);
    expect(age.isPooled).toBe(false);
    expect(age.of(second, 10, 5_060)).toBe(0);
    expect(age.isPooled).toBe(true);
    expect(age.andIsYoung(postgresDialect, MAX_MS, MAX_MS + 1)).toBe('');
  });

  it('counts again as soon as a connection is as old as its session', () => {
    const age = new SessionAge();
    age.of(connection(), 10, 60_000);
    age.of(connection(), 10, 60_000);
    expect(age.of(connection(), 10, 20)).toBe(20);
    expect(age.isPooled).toBe(false);
    expect(age.of(connection(), 10, 60_000)).toBe(NO_LIMIT);
  });

  it('does not exempt a connection of a process that was suspended before the first answer', () => {
    const age = new SessionAge();
    expect(age.of(connection(), 10, 6_010)).toBe(NO_LIMIT);
    expect(age.of(connection(), 10, 20)).toBe(20);
    expect(age.isPooled).toBe(false);
  });

  it('is beyond every limit when it is below 0: the clock of the database was put back', () => {
    const age = new SessionAge();
    expect(age.of(connection(), 10, -1)).toBe(NO_LIMIT);
  });

  it('is a condition of what is written, by the clock of the server and by ours', () => {
    const age = new SessionAge();
    expect(age.andIsYoung(postgresDialect, MAX_MS, 0)).toBe(` AND ${postgresDialect.sessionAgeMs} BETWEEN 0 AND 27000`);
    expect(age.andIsYoung({ ...postgresDialect, sessionAgeMs: '0' }, MAX_MS, MAX_MS)).toBe('');
    expect(age.andIsYoung(postgresDialect, MAX_MS, MAX_MS + 1)).toBe(' AND 1 = 0');
  });
});

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
    // As mysql2 passes it on, with or without a listener.
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

it('a session of MySQL reads all rows, whatever limit the server sets', () => {
  expect(mysqlDialect('+00:00').session(1).join()).toContain('sql_select_limit = 18446744073709551615');
});
