import { MemoryWorkerStore, MemoryWorkerTable } from '@raindrop/core/internal';
import type { PrivateServer } from '../../support/servers/private-server.js';
import { startMariadb, startPostgres } from '../../support/servers/private-servers.js';
import { databaseKinds, testDatabase, type DatabaseKind } from '../../support/servers/test-databases.js';
import { describeConcurrentAcquirers } from './concurrent-acquirers.contract.js';
import { openStore } from '../../support/stores/open-store.js';

describeConcurrentAcquirers('memory', () => {
  const table = new MemoryWorkerTable();
  const open = (): MemoryWorkerStore => new MemoryWorkerStore(table, () => Date.now());
  return Promise.resolve({ open, dispose: () => Promise.resolve() });
});

/** 64 connections would leave the run's own servers (100 to 151) too few for the suites beside this one. */
const startPrivate: { readonly [kind in DatabaseKind]?: () => Promise<PrivateServer> } = {
  mariadb: startMariadb,
  postgres: startPostgres,
};

describe.each(databaseKinds)('On %s', (kind) => {
  let server: PrivateServer | undefined;

  beforeAll(async () => {
    server = await startPrivate[kind]?.();
  });

  afterAll(async () => {
    await server?.stop();
  });

  describeConcurrentAcquirers(kind, async () => {
    const database = await testDatabase(kind, server?.url);
    return { open: () => openStore(database.options), dispose: () => database.drop() };
  });
});
