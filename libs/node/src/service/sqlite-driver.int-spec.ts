import type * as SqliteVersions from '../database/sqlite-versions.js';
import { openIdService } from './open-id-service.js';

/** What is found instead of the versions that this run has. */
const mockVersions = { driver: '12.11.1', node: '24.21.0' };

jest.mock('../database/sqlite-versions.js', (): typeof SqliteVersions => {
  const real = jest.requireActual<typeof SqliteVersions>('../database/sqlite-versions.js');
  return { ...real, sqliteVersions: () => mockVersions };
});

it('is warned of once in a process, with the cure, when it is better-sqlite3 12 on Node 24.19 or later', async () => {
  const warn = jest.fn();
  const dbConfig = { type: 'better-sqlite3', database: ':memory:' } as const;
  const logger = { log: () => undefined, warn, error: () => undefined };
  for (let starts = 0; starts < 2; starts++) {
    const ids = await openIdService({ dbConfig, allowVolatile: true, logger });
    await ids.close();
  }
  const told = warn.mock.calls.filter(([message]) => String(message).includes('install better-sqlite3@13'));
  expect(told).toHaveLength(1);
});
