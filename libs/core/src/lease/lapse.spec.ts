import { KeeperBench, type KeeperBenchOptions } from '../../../../test/support/engine/keeper-bench.js';

/** Without grace: a lease that has run out is anybody's. */
const NO_GRACE: KeeperBenchOptions = { lease: { graceMs: 0 } };
/** Its IDs are larger than those of the usual layout, for the next four years; so it may come after that one is gone. */
const LARGER: KeeperBenchOptions = { layout: { startTimeStamp: '2020-01-01' } };

describe('a lease that has run out', () => {
  it('is not revived but given back, and the next one is another tenure', async () => {
    const bench = await KeeperBench.started({ layout: { serviceMaxWorkId: 1 } });
    bench.issue();
    bench.store.goDown();
    await bench.advance(61_000);
    bench.store.comeBack();
    await bench.advance(1_000);
    expect(bench.keeper.number).toBe(2);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual([
      'lease-acquired',
      'lease-lost',
      'lease-regained',
    ]);
  });

  it('by the clock of the database alone is given back as well', async () => {
    const bench = await KeeperBench.started();
    bench.issue();
    bench.database.time.step(7_200_000);
    await bench.advance(10_000);
    expect(bench.story).toContain('lease-lost');
    expect(bench.keeper.status().lastError).toMatchObject({ errorCode: 'CLOCK_SKEW' });
  });

  it('issues nothing while it is being given back, whatever the clock shows', async () => {
    const bench = await KeeperBench.started();
    const wall = bench.time.wall;
    bench.issue();
    bench.database.time.step(7_200_000);
    bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 1_000 });
    bench.keeper.requestExtension();
    await bench.advance(20);
    expect(bench.database.row(bench.workerId!).token).toBe('');
    bench.time.setWall(wall);
    expect(bench.refusal()).toBe('LEASE_LOST');
    bench.time.step(1);
    expect(bench.refusal()).toBe('LEASE_LOST');
  });

  it('is regained within a second when the answer to its renewal came too late', async () => {
    const bench = await KeeperBench.started();
    bench.store.goDown();
    await bench.advance(57_200);
    bench.store.comeBack();
    bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 2_900 });
    await bench.advance(4_900);
    expect(bench.store.abandoned).toBe(0);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.keeper.number).toBe(2);
  });
});

describe('another layout that came in while a lease had run out', () => {
  /** Lives for so long and starts the other layout at the given moment. */
  async function withOther(bench: KeeperBench, atMs: number, untilMs: number): Promise<KeeperBench> {
    const other = new KeeperBench({ database: bench.database, ...LARGER, lease: { graceMs: 0 } });
    await bench.advance(atMs);
    await other.keeper.start();
    await bench.advance(untilMs - atMs);
    return other;
  }

  it('keeps the holder from going on, whose read came before and whose write after', async () => {
    const bench = await KeeperBench.started({ ...NO_GRACE, lease: { ...NO_GRACE.lease, opTimeoutMs: 5_000 } });
    bench.store.next('write', { kind: 'slow', thereMs: 3_000, backMs: 0 });
    await bench.advance(13_000);
    const until = bench.database.row(bench.workerId!).leaseUntilMs;
    const left = until - bench.database.time.wall;
    bench.store.goDown();
    await bench.advance(left - 900);
    bench.store.comeBack();
    bench.store.next('write', { kind: 'slow', thereMs: 2_500, backMs: 0 });
    expect(bench.refusal()).toBe('LEASE_LOST');
    const other = await withOther(bench, 1_000, 30_000);
    expect(other.refusal()).toBeUndefined();
    expect(bench.refusal()).toBe('LEASE_LOST');
    expect(bench.keeper.status().lastError).toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
  });

  it('keeps the holder from going on, whose write was executed afterwards as a ghost', async () => {
    const bench = await KeeperBench.started({ ...NO_GRACE, lease: { ...NO_GRACE.lease, opTimeoutMs: 1_000 } });
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'refused' } : undefined);
    await bench.advance(58_500);
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'ghost', afterMs: 2_500 } : { kind: 'refused' });
    bench.store.next('readRow', undefined);
    await bench.advance(1_400);
    expect(bench.refusal()).toBeUndefined();
    const other = await withOther(bench, 200, 3_000);
    bench.store.comeBack();
    await bench.advance(30_000);
    expect(other.refusal()).toBeUndefined();
    expect(bench.refusal()).toBe('LEASE_LOST');
  });
});

describe('a keeper that nobody tells what was issued', () => {
  it('takes all that was granted for issued', async () => {
    const layout = { timeUnit: 'hour', timeStampLength: 45, serviceMaxWorkId: 1 } as const;
    const bench = await KeeperBench.started({ layout, reports: false });
    const limit = bench.keeper.limit[0];
    for (let count = 0; count < 5; count++) bench.issue();
    await bench.keeper.close();
    expect(bench.database.row(1).odometers[0].sequence).toBe(limit.sequence);
    const next = await KeeperBench.started({ database: bench.database, layout });
    expect(next.next()).toMatch(/:0:16$/);
  });
});
