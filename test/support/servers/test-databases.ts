import Sqlite from 'better-sqlite3';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { DatabaseSettings } from '../../../libs/node/src/drivers/database-settings.js';
import type { DataSourceOptions } from 'typeorm';
import { isEvery, isFull } from '../../tier';
import { createDatabase, dropDatabases } from './database-admin';
import { noteDatabase, type MadeDatabase } from './run-ledger';
import { serverAddress } from './server-address';
import { serverFacts } from './server-kind';
import { serverUrl } from './server-url';

export type DatabaseKind = MadeDatabase['kind'];

/** Every kind the suites run against; MySQL as well where RAINDROP_TEST_MYSQL_URL names one. */
export const databaseKinds: readonly DatabaseKind[] = [
  'mariadb',
  'postgres',
  'sqlite',
  ...(process.env[serverFacts.mysql.variable] ? (['mysql'] as const) : []),
];

/**
 * For tests of what is ours, whatever the database answers: SQLite in `npm test`, every kind in `npm run test:all`. For
 * files that both run (`shared` of tiers.cjs).
 */
export const kindsOfTier: readonly DatabaseKind[] = isFull ? databaseKinds : ['sqlite'];

/**
 * For suites of which each kind runs all: SQLite and one of the servers in `npm test`, by the file's name; the others in
 * `npm run test:all`.
 */
export function kindsInTurn(file: string): readonly DatabaseKind[] {
  const servers = databaseKinds.filter((kind) => kind !== 'sqlite');
  const turn = servers[[...basename(file)].length % servers.length];
  return databaseKinds.filter((kind) => isEvery || (kind === 'sqlite' || kind === turn) !== isFull);
}

/** What means the same to TypeORM and to the drivers. */
export type TestOptions = DataSourceOptions & DatabaseSettings;

/** An empty database that belongs to one test (file). */
export interface TestDatabase {
  readonly kind: DatabaseKind;
  /** As the server says it: `10.11.19-MariaDB-0+deb12u1`. */
  readonly version: string;
  /** For `new DataSource({ ...options, entities: [...] })`; names no entities. */
  readonly options: TestOptions;
  /** Removes the database with everything in it. Safe to call twice. */
  drop(): Promise<void>;
}

/**
 * A fresh, empty, uniquely named database: on MariaDB, PostgreSQL and MySQL with CREATE DATABASE on the server of this
 * run, on SQLite a file in a directory of its own. What a test does not drop, the global tear-down does.
 *
 * @param url another server than the run's, such as a private one that the test is going to kill
 * @throws MissingForTests when this run has no such server; Error when it was started without the global set-up.
 */
export async function testDatabase(kind: DatabaseKind, url?: string): Promise<TestDatabase> {
  if (kind === 'sqlite') {
    return sqliteDatabase();
  }
  const server = url ?? serverUrl(kind);
  const name = `raindrop_${randomBytes(8).toString('hex')}`;
  if (url === undefined) {
    noteDatabase({ kind, name });
  }
  const version = await createDatabase(kind, server, name);
  const { host, port, user, password } = serverAddress(server, serverFacts[kind].usualPort);
  return {
    kind,
    version,
    options: { type: kind, host, port, username: user, password, database: name } as TestOptions,
    drop: () => dropDatabases(kind, server, [name]),
  };
}

/** The version of the SQLite that better-sqlite3 brings. */
export function sqliteVersion(): string {
  const database = new Sqlite(':memory:');
  try {
    return String(database.prepare('SELECT sqlite_version()').pluck().get());
  } finally {
    database.close();
  }
}

function sqliteDatabase(): TestDatabase {
  const directory = mkdtempSync(join(tmpdir(), 'raindrop-sqlite-'));
  noteDatabase({ kind: 'sqlite', name: directory });
  return {
    kind: 'sqlite',
    version: sqliteVersion(),
    options: { type: 'better-sqlite3', database: join(directory, 'raindrop.sqlite') },
    drop: () => {
      rmSync(directory, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}
