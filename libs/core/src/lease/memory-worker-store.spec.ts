import { describeWorkerStore } from '../../../../test/proof/contract/worker-store.contract.js';
import { MemoryWorkerStore, MemoryWorkerTable } from './memory-worker-store.js';

describeWorkerStore('memory', () => {
  const table = new MemoryWorkerTable();
  // One process has one clock.
  const { now } = Date;
  return Promise.resolve({
    open: () => new MemoryWorkerStore(table, now),
    foreignWrite: (id) => {
      const row = table.rows.get(id)!;
      table.rows.set(id, { ...row, version: row.version + 1 });
      return Promise.resolve();
    },
    markDeleted: (id) => {
      table.deleted.set(id, table.rows.get(id)!);
      table.rows.delete(id);
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  });
});
