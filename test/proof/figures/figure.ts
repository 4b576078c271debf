import type { DatabaseKind, TestDatabase } from '../../support/servers/test-databases.js';
import type { PrivateServer } from '../../support/servers/private-server.js';
import type { SqlServerKind } from '../../support/servers/database-admin.js';

/** The servers that a run can start for itself: MySQL is only ever given. */
export type StartableKind = Exclude<SqlServerKind, 'mysql'>;

/** One line of the table. */
export interface Measurement {
  readonly figure: string;
  readonly database: string;
  readonly target: string;
  readonly measured: string;
  readonly ok: boolean;
}

/** What a figure may use. The code that made it clears databases and servers away. */
export interface Bench {
  /** The kinds of database that are asked for. */
  readonly kinds: readonly DatabaseKind[];
  /** An empty database on the run's server. */
  database(kind: DatabaseKind): Promise<TestDatabase>;
  /** A server that only this run uses, and may kill. */
  ownServer(kind: StartableKind): Promise<PrivateServer>;
  /** An empty database on it, or on the run's server where there is no other. */
  ownDatabase(kind: DatabaseKind): Promise<TestDatabase>;
}

/** Something that is promised in numbers. */
export interface Figure {
  /** For `--only`. */
  readonly name: string;
  measure(bench: Bench): Promise<readonly Measurement[]>;
}

/** The kinds that are servers. */
export function isServer(kind: DatabaseKind): kind is SqlServerKind {
  return kind !== 'sqlite';
}

export function isStartable(kind: DatabaseKind): kind is StartableKind {
  return kind === 'mariadb' || kind === 'postgres';
}

/** Measures one database after the other: what is short would be disturbed by its like. */
export async function oneByOne(
  { kinds }: Bench,
  measure: (kind: DatabaseKind) => Promise<Measurement | readonly Measurement[]>,
): Promise<Measurement[]> {
  const measurements: Measurement[] = [];
  for (const kind of kinds) measurements.push(...[await measure(kind)].flat());
  return measurements;
}
