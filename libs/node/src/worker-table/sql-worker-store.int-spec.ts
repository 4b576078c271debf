import { DataSource } from 'typeorm';
import { describeWorkerStore, type WorkerStoreBench } from '../../../../test/proof/contract/worker-store.contract.js';
import { databaseKinds, testDatabase, type DatabaseKind } from '../../../../test/support/servers/test-databases.js';
import { openStore } from '../../../../test/support/stores/open-store.js';
import type { SqlWorkerStore } from './sql-worker-store.js';
import { overPortsOfTier } from '../../../../test/support/stores/sql-database.js';

overPortsOfTier(() => {
  describe.each(databaseKinds)('on %s', (kind) => {
    describeWorkerStore(kind, () => makeBench(kind));
  });

  async function makeBench(kind: DatabaseKind): Promise<WorkerStoreBench> {
    const database = await testDatabase(kind);
    const others = await new DataSource(database.options).initialize();
    const stores: SqlWorkerStore[] = [];
    const tableName = 'soc_raindrop_worker';
    return {
      open: () => {
        const store = openStore(database.options, { tableName });
        stores.push(store);
        return store;
      },
      foreignWrite: async (id) => {
        await others.query(`UPDATE ${tableName} SET version = version + 1 WHERE id = ${id}`);
      },
      markDeleted: async (id) => {
        await others.query(`UPDATE ${tableName} SET del_flag = 1 WHERE id = ${id}`);
      },
      dispose: async () => {
        await Promise.all(stores.map((store) => store.close()));
        await others.destroy();
        await database.drop();
      },
    };
  }
});
