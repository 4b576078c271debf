import { MemoryAppSegmentStore, MemoryAppSegmentTable } from '@raindrop/core/internal';
import { describeAppSegmentStore, type AppSegmentStoreBench } from './app-segment-store.contract.js';

const make = (): Promise<AppSegmentStoreBench> => {
  const { rows } = new MemoryAppSegmentTable();
  return Promise.resolve({
    open: () => new MemoryAppSegmentStore({ rows }),
    change: (app, shard, { max_id, step, max_limit_id }) => {
      const { shards } = rows.get(app)!;
      const row = shards.get(shard)!;
      row.maxId = max_id ?? row.maxId;
      row.step = step ?? row.step;
      row.maxLimitId = max_limit_id ?? row.maxLimitId;
      return Promise.resolve();
    },
    rowsOf: (app) => Promise.resolve(rows.get(app)?.shards.size ?? 0),
    remove: (app, shard) => {
      if (shard === undefined) rows.delete(app);
      else rows.get(app)!.shards.delete(shard);
      return Promise.resolve();
    },
    dispose: () => Promise.resolve(),
  });
};

// Its callers are in the same process, and tested for that.
describeAppSegmentStore('memory', make);
