import { RaindropModule } from '@raindrop/nestjs';
import type * as SqliteVersions from '../../../libs/node/src/database/sqlite-versions.js';
import { OPTIONS, startApp, typeorm } from '../../support/module/module-fixture.js';

/** What is found instead of the versions that this run has. */
const mockVersions = { driver: '12.11.1', node: '24.21.0' };

jest.mock('../../../libs/node/src/database/sqlite-versions.js', (): typeof SqliteVersions => {
  const real = jest.requireActual<typeof SqliteVersions>('../../../libs/node/src/database/sqlite-versions.js');
  return { ...real, sqliteVersions: () => mockVersions };
});

it('is warned of once in a process, with the cure, when it is better-sqlite3 12 on Node 24.19 or later', async () => {
  const warn = jest.fn();
  const memory = typeorm({ type: 'better-sqlite3', database: ':memory:' });
  const options = { ...OPTIONS, allowVolatile: true, checkShutdownHooks: false, logger: { ...OPTIONS.logger!, warn } };
  for (let starts = 0; starts < 2; starts++) {
    const app = await startApp([memory, RaindropModule.forRoot(options)]);
    await app.close();
  }
  const told = warn.mock.calls.filter(([message]) => String(message).includes('install better-sqlite3@13'));
  expect(told).toHaveLength(1);
});
