import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnfitSqliteDriverError } from '@raindrop/nestjs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Order, OrderItem } from './order.entity.js';
import { CreateOrders1767225600000 } from './create-orders.migration.js';
import type { ServiceDatabase } from './database-url.js';
import { limitAnswers, limitQueue } from './pool-limits.js';

const TRIES = 8;
const FIRST_PAUSE_MS = 50;

/** TypeORM options of the service. Tables are made by migrations: `synchronize` fails when two processes start at once. */
export function dataSourceOptions(database: ServiceDatabase): DataSourceOptions {
  const options = { entities: [Order, OrderItem], migrations: [CreateOrders1767225600000], synchronize: false };
  if (database.type !== 'better-sqlite3') return limitAnswers({ ...database, ...options });
  // Another process's write takes a millisecond or two, but in this driver waiting for it stops the event loop.
  return { ...database, ...options, enableWAL: true, timeout: 1_000 };
}

/**
 * Opens the database with all migrations run.
 *
 * TypeORM takes no lock for them. Of several processes that start at once on an empty database only one creates a table;
 * the others fail, wait a little, and find on their next look what is left to do. The same holds for SQLite's switch to
 * WAL. The migrations themselves skip tables that exist, so one that was killed half-way can be run again.
 *
 * @throws the last failure, after about three seconds
 */
export async function openDatabase(options: DataSourceOptions): Promise<DataSource> {
  if (options.type === 'better-sqlite3') await makeOwnFile(String(options.database));
  for (let tries = 1; ; tries++) {
    try {
      await runMigrations(options);
      return limitQueue(await new DataSource(options).initialize());
    } catch (error) {
      if (tries === TRIES || error instanceof UnfitSqliteDriverError) throw error;
      await sleep(FIRST_PAUSE_MS * tries * (1 + Math.random()));
    }
  }
}

/** A new file is for this user alone: SQLite would let everybody read it. Those beside it get the rights that it has. */
async function makeOwnFile(path: string): Promise<void> {
  if (path.startsWith(':')) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a', 0o600);
  await file.close();
}

/**
 * On a DataSource of its own: a migration that failed leaves SQLite's connection with its foreign keys switched off.
 * The logger is one that says nothing (unless DEBUG is set): losing the race is no news, and the last failure is thrown.
 */
async function runMigrations(options: DataSourceOptions): Promise<void> {
  const dataSource = await new DataSource({ ...options, entities: [], logger: 'debug' }).initialize();
  try {
    await dataSource.runMigrations();
  } finally {
    await dataSource.destroy();
  }
}
