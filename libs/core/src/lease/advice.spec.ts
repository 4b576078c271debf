import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';

function warningsOf({ events }: KeeperBench): string[] {
  return events.flatMap((event) => (event.type === 'warning' ? [event.message] : []));
}

describe('the start warns', () => {
  it('when more than half of the range is held, whose cure is a wider one', async () => {
    const database = new WorkerDatabase();
    const fleet: KeeperBench[] = [];
    for (let seed = 1; seed <= 3; seed++) {
      fleet.push(await KeeperBench.started({ database, seed, layout: { serviceMaxWorkId: 4 } }));
    }
    expect(fleet.map((each) => warningsOf(each).length)).toEqual([0, 0, 1]);
    expect(warningsOf(fleet[2]!)[0]).toMatch(/^3 of 4 worker ids are held: widen serviceMinWorkId\.\.serviceMaxWorkId/);
  });

  it('but not for a range of one, which is meant so', async () => {
    expect(warningsOf(await KeeperBench.started({ layout: { serviceMaxWorkId: 1 } }))).toEqual([]);
  });

  it('of settings that lose commits, unless a window for that is set', async () => {
    const problem = 'synchronous is 0: set it to FULL';
    for (const { commitLossWindowMs, told } of [
      { commitLossWindowMs: 0, told: [problem] },
      { commitLossWindowMs: 1_000, told: [] },
    ]) {
      const bench = new KeeperBench({ lease: { commitLossWindowMs } });
      bench.store.durabilityWarnings = () => Promise.resolve([problem]);
      await Promise.all([bench.keeper.start(), bench.database.advance(2_000)]);
      expect(warningsOf(bench)).toEqual(told);
    }
  });

  it('of nothing, and goes on, where the settings cannot be read', async () => {
    const bench = new KeeperBench();
    bench.store.durabilityWarnings = () => Promise.reject(new Error('not allowed'));
    await bench.keeper.start();
    expect([bench.refusal(), warningsOf(bench)]).toEqual([undefined, []]);
  });
});
