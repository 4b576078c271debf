import type { Layout } from '../layout/layout.js';
import type { WorkerRange } from '../layout/layout-options.js';
import { LayoutConflictError } from '../lease/lease-errors.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { presets } from './presets.js';

const startTimeStamp = '2026-01-01';

/** A process of a data centre, connected to a worker table. */
function process(database: WorkerDatabase, layout: Layout, workers: WorkerRange): Promise<KeeperBench> {
  return KeeperBench.started({
    database,
    resolved: { layout, workers, firstLane: 0, minLifetimeDays: 365, warnings: [] },
  });
}

describe('Two data centres', () => {
  it('of Twitter share a worker table by ranges', async () => {
    const database = new WorkerDatabase();
    const layout = presets.twitter({ startTimeStamp });
    const one = await process(database, layout, { min: 32, max: 63 });
    const two = await process(database, layout, { min: 64, max: 95 });
    const centers = [one, two].map(({ generator }) => layout.unpack(generator.nextId()).workerId >> 5);
    expect(centers).toEqual([1, 2]);
    await Promise.all([one.keeper.close(), two.keeper.close()]);
  });

  it('of uid-generator have a worker table each', async () => {
    const layouts = [3, 4].map((datacenterId) => presets.uidGeneratorGlobal({ datacenterId, startTimeStamp }));
    const workers = { min: 1, max: 1 };
    const [one, two] = await Promise.all(layouts.map((layout) => process(new WorkerDatabase(), layout, workers)));
    const ids = [...one!.generator.nextIds(100), ...two!.generator.nextIds(100)];
    expect(new Set(ids).size).toBe(200);
    expect(new Set(ids.map((id) => layouts[0]!.unpack(id).endBits))).toEqual(new Set([3, 4]));
    await expect(process(one!.database, layouts[1]!, { min: 2, max: 2 })).rejects.toThrow(LayoutConflictError);
    await Promise.all([one!.keeper.close(), two!.keeper.close()]);
  });
});
