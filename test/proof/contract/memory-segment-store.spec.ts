import { MemorySegmentStore, MemorySegmentTable } from '@raindrop/core/internal';
import { describeSegmentStore, type SegmentStoreBench } from './segment-store.contract.js';

const make = (): Promise<SegmentStoreBench> => {
  const table = new MemorySegmentTable();
  return Promise.resolve({
    open: ({ autoCreateCode = true, defaultStep = 1_000 } = {}) =>
      new MemorySegmentStore(table, { autoCreateCode, step: defaultStep }),
    change: (code, { max_id, step, max_limit_id }) => {
      const row = table.rows.get(code)!;
      table.rows.set(code, {
        maxId: max_id ?? row.maxId,
        step: step ?? row.step,
        maxLimitId: max_limit_id ?? row.maxLimitId,
      });
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  });
};

// Its callers are in the same process, and tested for that.
describeSegmentStore('memory', make);
