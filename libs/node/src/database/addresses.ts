import { AddressedConnection, type Served } from './addressed-connection.js';
import { DatabaseConnection, type Connection } from './database-connection.js';
import type { Dialect } from './dialect.js';
import type { SqlDatabase } from './sql-database.js';

/** One database, several ways to it. @param databases of the same type and schema, one at least */
export function withAddresses(databases: readonly SqlDatabase[]): SqlDatabase {
  const [first] = databases;
  if (databases.length === 1) return first!;
  const { type, schema, configuredBy, isVolatile } = first!;
  return {
    ...{ type, schema, configuredBy, isVolatile, addresses: databases },
    place: databases.map(({ place }) => place).join(', '),
    warnings: () => [...new Set(databases.flatMap((each) => each.warnings()))],
    driver: (opTimeoutMs, sockets) => first!.driver(opTimeoutMs, sockets),
  };
}

/** The addresses of a database, and from which one on they are preferred: behind the one that was lost last. */
export class Addresses {
  private readonly all: readonly SqlDatabase[];
  private first = 0;
  private last: Served | undefined;

  constructor(database: SqlDatabase) {
    this.all = database.addresses ?? [database];
  }

  /** A connection, which is not open yet. */
  connection(dialect: Dialect, opTimeoutMs: number): Connection {
    const { all, first } = this;
    if (all.length === 1) return new DatabaseConnection(all[0]!, dialect, opTimeoutMs);
    const preferred = [...all.slice(first), ...all.slice(0, first)];
    return new AddressedConnection(preferred, all, this.last, dialect, opTimeoutMs);
  }

  /** A connection of ours was lost, or given up. */
  leave(connection: Connection): void {
    const served = connection instanceof AddressedConnection ? connection.served : undefined;
    if (served === undefined) return;
    this.last = served;
    this.first = (this.all.indexOf(served.address) + 1) % this.all.length;
  }
}
