import { connect, Socket } from 'node:net';
import { hostTimers } from '../system/system-ports.js';
import type { SupportedDatabase } from './supported-database.js';

/** The stream under a driver; an application's own tunnel need not be a socket. */
interface Stream {
  destroy(error?: Error): unknown;
  emit(event: string | symbol, ...values: unknown[]): boolean;
  once(event: 'close', listener: () => void): unknown;
  ref?(): unknown;
  unref?(): unknown;
}

type MakeStream = (config: never) => Stream;

interface MysqlConfig {
  readonly config: { readonly host: string; readonly port: number; readonly socketPath?: string };
}

/**
 * Looks after the sockets of one connection, from the first attempt to connect.
 *
 * TypeORM has no call that drops a connection, and the drivers' own (`connection.destroy()` of mysql2 ends its half and
 * waits for the other) are out of reach while TypeORM is still connecting. Sockets made here can be dropped at any
 * moment. They keep the process alive only while a call is under way.
 */
export class ConnectionSockets {
  private readonly streams = new Set<Stream>();
  private holds = 0;
  private reason: Error | undefined;
  private closed = 0;

  /** The driver's `stream` option. A factory of the application's, for a tunnel say, is used instead of ours. */
  factory(type: string, given: unknown): (config: never) => Stream {
    const make = typeof given === 'function' ? (given as MakeStream) : SOCKETS[type as keyof typeof SOCKETS];
    return (config) => this.add(make(config));
  }

  /** Looks after a stream that was not made by {@link factory}, such as TLS on top of one that was. */
  add<T extends Stream>(stream: T): T {
    if (this.streams.has(stream)) return stream;
    this.streams.add(stream);
    containFailures(stream);
    stream.once('close', () => {
      this.streams.delete(stream);
      this.closed++;
    });
    const { reason } = this;
    // A driver that has lost its socket may ask for another one. It needs a moment to listen to it first.
    if (reason !== undefined) hostTimers.setImmediate(() => stream.destroy(reason));
    return stream;
  }

  /** Tells whether a socket has closed: the connection is of no use any more. */
  get isLost(): boolean {
    return this.closed > 0 || this.reason !== undefined;
  }

  /** A call begins; the process stays alive until as many have ended. */
  hold(): void {
    if (++this.holds === 1) this.streams.forEach((stream) => stream.ref?.());
  }

  /** A call has ended. */
  letGo(): void {
    if (--this.holds === 0) this.streams.forEach((stream) => stream.unref?.());
  }

  /** Drops every socket, also those still to come. */
  destroy(reason: Error): void {
    this.reason ??= reason;
    for (const stream of [...this.streams]) stream.destroy(reason);
  }
}

/**
 * Makes whatever a driver throws while it hears from its stream cost the stream, not the process. mysql2 throws at the
 * second failure of a connection, for which there is no listener any more: when the server has refused it in place of
 * its greeting ("Too many connections"), and then the socket is dropped.
 */
function containFailures(stream: Stream): void {
  const emit = stream.emit.bind(stream);
  stream.emit = (...event) => {
    try {
      return emit(...event);
    } catch {
      stream.destroy();
      return true;
    }
  };
}

const SOCKETS: Readonly<Record<Exclude<SupportedDatabase, 'better-sqlite3'>, MakeStream>> = {
  mysql: mysqlSocket,
  mariadb: mysqlSocket,
  postgres: postgresSocket,
};

/** As mysql2 does it itself when no `stream` is given. */
function mysqlSocket({ config: { host, port, socketPath } }: MysqlConfig): Socket {
  if (socketPath !== undefined) return connect(socketPath);
  return connect({ host, port, keepAlive: true, noDelay: true });
}

/** pg connects it, to a host or to a socket's path. */
function postgresSocket(): Socket {
  return new Socket();
}
