import { isFull } from '../../../../test/tier.js';
import type { LayoutOptions } from '../layout/layout-options.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';
import type { LeaseOptions } from './lease-options.js';

const HOUR = Date.parse('2026-03-01T13:00:00.000Z');

/** How the clocks of the old holder and of the next one are wrong, ms. */
interface Skews {
  readonly holder: number;
  readonly next: number;
}

/**
 * A holder renews at the last moment of its lease, and again, and then the database goes back to before all that, and
 * the holder is cut off from it. It may go on for a lease; the table says that its lease is over. Another process takes the
 * row as soon as it may.
 */
async function cutOff(
  lease: LeaseOptions,
  {
    layout,
    skews,
    endsAt,
    next = lease,
  }: { layout: Partial<LayoutOptions>; skews: Skews; endsAt: number; next?: LeaseOptions },
): Promise<[holder: KeeperBench, successor: KeeperBench]> {
  const windowMs = lease.commitLossWindowMs!;
  // The holder's own lease is to end at `endsAt`.
  const begin = endsAt - 2 * windowMs - 117_000;
  const database = new WorkerDatabase(begin);
  const range = { ...layout, serviceMaxWorkId: 1 };
  const holder = new KeeperBench({ database, layout: range, lease, wall: begin + skews.holder });
  void holder.keeper.start();
  await live(windowMs, holder);
  const past = database.snapshot();
  holder.store.goDown();
  await live(58_000, holder);
  holder.store.comeBack();
  await live(windowMs - 1_000, holder);
  database.restore(past);
  holder.store.goDown();
  const successor = new KeeperBench({
    database,
    layout: range,
    seed: 2,
    wall: database.time.wall + skews.next,
    lease: { ...next, waitForWorkerMs: 3_600_000 },
  });
  void successor.keeper.start().catch(() => undefined);
  await live(windowMs + 220_000, holder, successor);
  return [holder, successor];
}

const LAYOUTS: readonly (Partial<LayoutOptions> & { readonly timeUnit: 'second' | 'hour' })[] = [
  { timeUnit: 'second', timeStampLength: 33 },
  { timeUnit: 'hour', timeStampLength: 20 },
];

describe.each(LAYOUTS)(
  'a holder cut off from a $timeUnit row after the database has lost its last grants',
  (layout) => {
    it.each([
      { commitLossWindowMs: 2_000, skews: { holder: 0, next: 0 } },
      { commitLossWindowMs: 30_000, skews: { holder: 29_000, next: -29_000 } },
      { commitLossWindowMs: 100_000, skews: { holder: -29_000, next: 29_000 } },
    ])('shares no ID with its successor: window $commitLossWindowMs ms, clocks $skews', async ({ skews, ...lease }) => {
      // The hour changes somewhere between the successor's first try and the end of everything.
      for (const offset of isFull ? [-60_000, -5_000, 30_000] : [-5_000]) {
        const [holder, successor] = await cutOff(lease, { layout, skews, endsAt: HOUR + offset });
        expect(holder.issued.length).toBeGreaterThan(500);
        // Of an hour it may have to wait for the next one.
        if (layout.timeUnit === 'second') expect(successor.issued.length).toBeGreaterThan(100);
        expect(repeats(holder, successor)).toBe(0);
      }
    });

    it('shares IDs with a successor who knows of no window: the test can fail', async () => {
      const next = { graceMs: 0, horizonMs: 60_000 };
      const lease = { commitLossWindowMs: 100_000, horizonMs: 60_000 };
      const shared: number[] = [];
      for (const offset of [-5_000, 30_000]) {
        const ends = { layout, skews: { holder: 0, next: 0 }, endsAt: HOUR + offset, next };
        shared.push(repeats(...(await cutOff(lease, ends))));
      }
      expect(Math.max(...shared)).toBeGreaterThan(0);
    });
  },
);

describe('an hour row whose last grants were lost, acquired in between by a process that fails', () => {
  const lease = { commitLossWindowMs: 20_000 };
  const layoutOf = (endBitsValue: number): Partial<LayoutOptions> => ({
    timeUnit: 'hour',
    timeStampLength: 36,
    serviceMaxWorkId: 1,
    workIdLength: 10,
    endBitsLength: 1,
    endBitsValue,
  });

  it.each([
    { what: 'of the same layout', endBitsValue: 0 },
    { what: 'of another layout', endBitsValue: 1 },
  ])('$what, shares no ID with the next holder', async ({ endBitsValue }) => {
    const database = new WorkerDatabase(HOUR - 12 * 60_000);
    const options = { database, layout: layoutOf(0), lease };
    const gone = new KeeperBench(options);
    void gone.keeper.start();
    await live(40_000, gone);
    const past = database.snapshot();
    for (let each = 0; each < 2_000; each++) gone.refusal();
    await live(15_000, gone);
    for (let each = 0; each < 2_000; each++) gone.refusal();
    database.restore(past);
    gone.kill();
    await database.advance(400_000);

    const failing = new KeeperBench({ database, layout: layoutOf(endBitsValue), seed: 3, lease });
    const refused = { kind: 'refused' } as const;
    failing.store.next('readAgain', refused, refused, refused);
    await Promise.all([failing.keeper.start().catch(() => undefined), database.advance(30_000)]);
    expect(database.row(1).token).toBe('');

    const next = new KeeperBench({ ...options, seed: 2 });
    void next.keeper.start().catch(() => undefined);
    await database.advance(21_000);
    for (let each = 0; each < 5_000; each++) next.refusal();
    expect(repeats(gone, next)).toBe(0);
    const clean = new KeeperBench({ ...options, seed: 4, lease: { ...lease, waitForWorkerMs: 86_400_000 } });
    void clean.keeper.start().catch(() => undefined);
    await database.advance(600_000);
    clean.refusal();
    expect(clean.issued).toHaveLength(1);
  });
});
