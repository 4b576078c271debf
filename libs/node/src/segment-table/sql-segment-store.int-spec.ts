import { DataSource } from 'typeorm';
import { openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import {
  describeSegmentStore,
  type SegmentStoreBench,
} from '../../../../test/proof/contract/segment-store.contract.js';
import { databaseKinds, testDatabase, type DatabaseKind } from '../../../../test/support/servers/test-databases.js';
import type { SqlSegmentStore } from './sql-segment-store.js';

describe.each(databaseKinds)('on %s', (kind) => {
  describeSegmentStore(kind, () => makeBench(kind));
});

async function makeBench(kind: DatabaseKind): Promise<SegmentStoreBench> {
  const database = await testDatabase(kind);
  const others = await new DataSource(database.options).initialize();
  const stores: SqlSegmentStore[] = [];
  return {
    open: (settings) => {
      const store = openSegmentStore(database.options, settings);
      stores.push(store);
      return store;
    },
    change: async (code, change) => {
      const changes = Object.entries(change).map(([column, value]) => `${column} = ${String(value)}`);
      await others.query(`UPDATE raindrop_segment SET ${changes.join(', ')} WHERE code = '${code}'`);
    },
    dispose: async () => {
      await Promise.all(stores.map((store) => store.close()));
      await others.destroy();
      await database.drop();
    },
  };
}
