import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UnfitSqliteDriverError } from '@raindrop/nestjs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { ServiceDatabase } from './database-url.js';
import { limitAnswers, limitQueue } from './pool-limits.js';

const TRIES = 8;
const FIRST_PAUSE_MS = 50;

/** TypeORM options of the service. It has no entities: Raindrop makes its own tables. */
export function dataSourceOptions(database: ServiceDatabase): DataSourceOptions {
  if (database.type !== 'better-sqlite3') return limitAnswers(database);
  // Another process's write takes a millisecond or two, but in this driver waiting for it stops the event loop.
  return { ...database, enableWAL: true, timeout: 1_000 };
}

/**
 * Opens the database, and tries again for about three seconds: of several processes that start at once on an empty
 * SQLite file one switches it to WAL, and the others fail meanwhile. Nest's own retries would log each attempt.
 *
 * @throws the last failure
 */
export async function openDatabase(options: DataSourceOptions): Promise<DataSource> {
  if (options.type === 'better-sqlite3') await makeOwnFile(String(options.database));
  for (let tries = 1; ; tries++) {
    try {
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
