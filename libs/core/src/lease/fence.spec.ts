import type { LayoutOptions } from '../layout/layout-options.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';

/** What `fenceWorkers` takes by default: maxClockSkewMs + horizonMs. */
const BARRED_MS = 95_000;

const ONE: KeeperBenchOptions = { layout: { serviceMaxWorkId: 1 } };

/** A holder whose table is restored from a backup that knows nothing of it, and a process that starts just then. */
async function restoredUnder(isFenced: boolean): Promise<[holder: KeeperBench, next: KeeperBench]> {
  const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
  const backup = database.snapshot();
  const holder = await KeeperBench.started({ ...ONE, database });
  await live(2_000, holder);
  database.restore(backup);
  if (isFenced) await holder.store.fence(BARRED_MS);
  const next = new KeeperBench({ ...ONE, database, seed: 2, lease: { waitForWorkerMs: 600_000 } });
  void next.keeper.start().catch(() => undefined);
  await live(BARRED_MS + 30_000, holder, next);
  return [holder, next];
}

describe('a table restored from a backup under a running holder', () => {
  it('repeats no ID once it is fenced', async () => {
    const [holder, next] = await restoredUnder(true);
    expect(repeats(holder, next)).toBe(0);
    expect([holder.issued.length > 20, holder.issued.length + next.issued.length > 100]).toEqual([true, true]);
  });

  it('repeats IDs unless it is fenced: the test can fail', async () => {
    const [holder, next] = await restoredUnder(false);
    expect(repeats(holder, next)).toBeGreaterThan(0);
  });
});

describe('a fence', () => {
  it('takes every row away at the next heartbeat, and gives none out before its time', async () => {
    const bench = await KeeperBench.started(ONE);
    bench.issue();
    expect(await bench.store.fence(BARRED_MS)).toBe(1);
    const other = new KeeperBench({ ...ONE, database: bench.database, seed: 2 });
    await expect(other.keeper.start()).rejects.toMatchObject({ census: { total: 1, live: 0, ahead: 1 } });
    await live(10_500, bench);
    expect(bench.events.find(({ type }) => type === 'lease-lost')).toMatchObject({ workerId: 1 });
    expect(bench.refusal()).toBe('LEASE_LOST');
    const last = bench.issued.at(-1)!;
    await live(BARRED_MS, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.issued.at(-1)).toBeGreaterThan(last);
  });

  it.each<Partial<LayoutOptions>>([
    { timeUnit: 'second', timeStampLength: 31 },
    { timeUnit: 'minute', timeStampLength: 25 },
    { timeUnit: 'hour', timeStampLength: 19 },
    { timeUnit: 'day', timeStampLength: 15 },
  ])('burns whole ticks: $timeUnit', async (layout) => {
    const options = { layout: { ...layout, serviceMaxWorkId: 1 } };
    const bench = await KeeperBench.started(options);
    bench.issue();
    const { unitMs, timeline } = bench.resolved.layout;
    const fencedTick = timeline.tickAt(bench.database.time.wall + BARRED_MS);
    await bench.store.fence(BARRED_MS);
    bench.kill();
    await bench.database.advance(BARRED_MS + unitMs);
    const next = await KeeperBench.started({ ...options, database: bench.database, seed: 2 });
    expect(next.next()).toMatch(new RegExp(`^${fencedTick + 1}:`));
  });

  it('may be put up twice, and does not lower what is higher', async () => {
    const bench = await KeeperBench.started(ONE);
    await bench.store.fence(BARRED_MS);
    const { odometers } = bench.database.row(1);
    await bench.store.fence(1_000);
    expect(bench.database.row(1).odometers).toEqual(odometers);
  });
});
