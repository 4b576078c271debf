import type { ConnectionSockets } from './connection-sockets.js';
import type { StatementResult } from './dialect.js';

/** An open connection of a driver. */
export interface DriverConnection {
  /** Runs one statement; no other one is under way. @throws what the driver throws */
  query(sql: string, values: readonly unknown[]): Promise<StatementResult>;
  /** Tells when something was heard from the server that belongs to no statement; the socket's end follows. */
  onError?(listener: () => void): void;
  /** The server's own number of the session; undefined for SQLite. */
  readonly session?: number | undefined;
  /** The outermost stream of the driver, such as TLS; undefined for SQLite. */
  readonly stream: Parameters<ConnectionSockets['add']>[0] | undefined;
}

/** One connection as a driver, or an ORM over it, makes it. */
export interface Driver {
  /** The file that it opens, as its name was given; undefined for all but SQLite. */
  readonly file?: string | undefined;
  /** Called once, or again after it has failed. */
  connect(): Promise<DriverConnection>;
  /** Ends the connection in order, in whatever state it is. It may fail, and without a socket it may never settle. */
  end(): Promise<void>;
}

/**
 * A database to which connections of our own can be opened: by its driver, or by an ORM that knows how. Nothing is open
 * yet.
 */
export interface SqlDatabase {
  /** As TypeORM names it, such as `postgres`; see SUPPORTED_DATABASES. */
  readonly type: string;
  /** The schema of tables that are named without one. */
  readonly schema: string | undefined;
  /** The option that names account and database, for messages, such as `dbConfig`. */
  readonly configuredBy: string;
  /** Where it is, without account and password: it tells a copy of a database from its original. */
  readonly place: string;
  /** Whether it lives and dies with its connection, so that a second connection would see another database. */
  readonly isVolatile: boolean;
  /**
   * The ways to it when there are several: each a database of the same kind, with one address. Undefined for one that is
   * its only address.
   */
  readonly addresses?: readonly SqlDatabase[];
  /** Warnings about a database that works but needs attention. */
  warnings(): readonly string[];
  /**
   * A driver for one connection.
   * @param opTimeoutMs the limit for connecting
   * @param sockets makes the sockets that it is to use
   * @throws DriverNotInstalledError; UnfitSqliteDriverError
   */
  driver(opTimeoutMs: number, sockets: ConnectionSockets): Driver;
}
