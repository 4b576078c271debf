import { describeWorkerStore, type WorkerStoreBench } from '../../../../test/proof/contract/worker-store.contract.js';
import { databaseKinds } from '../../../../test/support/servers/test-databases.js';
import { openStore } from '../../../../test/support/stores/open-store.js';
import { onSharedDatabase, type SharedDatabase } from '../../../../test/support/stores/shared-database.js';
import type { SqlWorkerStore } from './sql-worker-store.js';
import { overPortsOfTier } from '../../../../test/support/stores/sql-database.js';

overPortsOfTier(() => {
  describe.each(databaseKinds)('on %s', (kind) => {
    const database = onSharedDatabase(kind);
    describeWorkerStore(kind, () => makeBench(database));
  });

  function makeBench({ options, admin, tableName: nameOf }: SharedDatabase): WorkerStoreBench {
    const stores: SqlWorkerStore[] = [];
    const tableName = nameOf('soc_raindrop_worker');
    return {
      open: () => {
        const store = openStore(options, { tableName });
        stores.push(store);
        return store;
      },
      foreignWrite: async (id) => {
        await admin.query(`UPDATE ${tableName} SET version = version + 1 WHERE id = ${id}`);
      },
      markDeleted: async (id) => {
        await admin.query(`UPDATE ${tableName} SET del_flag = 1 WHERE id = ${id}`);
      },
      dispose: async () => {
        await Promise.all(stores.map((store) => store.close()));
      },
    };
  }
});
