import assert from 'node:assert/strict';
import { isHeld } from '@raindrop/core/internal';
import type { WorkerStore } from '@raindrop/core';
import { monotonicClock } from '@raindrop/node/internal';
import { between, has, until } from './check.js';
import { idsIn } from './sample-cases.js';
import type { Cases } from './bench.js';

const HOUR_MS = 3_600_000;
const LEASE_MS = 60_000;
const SHORT_LEASE_MS = 50;
/** Two clocks are read one after the other. */
const GRAIN_MS = 5;

/** While `call` runs, `Date` of this process is `aheadMs` ahead, as that of another host may be. */
async function atClock<T>(aheadMs: number, call: () => Promise<T>): Promise<T> {
  const Real = Date;
  const now = (): number => Real.now() + aheadMs;
  globalThis.Date = new Proxy(Real, {
    apply: () => new Real(now()).toString(),
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    get: (target, key) => (key === 'now' ? now : (Reflect.get(target, key) as unknown)),
  });
  try {
    return await call();
  } finally {
    globalThis.Date = Real;
  }
}

async function leftMs(store: WorkerStore, id: number): Promise<number> {
  const { nowMs, row } = await store.readRow(id);
  return row!.leaseUntilMs - nowMs;
}

/** Leases last as long for everybody, however wrong the clock of a process is: by the store's clock, or by none. */
export const clockCases: Cases = {
  'leaves a held row to its holder, for a process whose clock is an hour ahead': async (rows) => {
    const [holder, other] = [await rows.prepared(2), rows.open()];
    const before = monotonicClock.now();
    await rows.take(holder, 1, { leaseMs: LEASE_MS });
    await atClock(HOUR_MS, async () => {
      const left = await leftMs(other, 1);
      between(
        left,
        LEASE_MS - (monotonicClock.now() - before) - GRAIN_MS,
        LEASE_MS + GRAIN_MS,
        'what is left of the lease',
      );
      const sample = await rows.sample(other);
      assert.deepEqual([...idsIn(sample)], [2], 'a row that is held was sampled');
      has(sample, { total: 2, live: 1 }, 'the sample');
      const { nowMs, rows: all } = await other.readTable();
      assert.equal(all.filter((row) => isHeld(row, nowMs, 0)).length, 1, 'readTable does not show that a row is held');
    });
  },
  ...Object.fromEntries(
    Object.entries({ ahead: HOUR_MS, behind: -HOUR_MS }).map(([where, aheadMs]) => [
      `gives a lease its length and no more, when the holder's clock is an hour ${where}`,
      async (rows) => {
        const [other, holder] = [await rows.prepared(2), rows.open()];
        const before = monotonicClock.now();
        await atClock(aheadMs, () => rows.take(holder, 1, { leaseMs: LEASE_MS }));
        const left = await leftMs(other, 1);
        between(
          left,
          LEASE_MS - (monotonicClock.now() - before) - GRAIN_MS,
          LEASE_MS + GRAIN_MS,
          'the lease of another',
        );
        await atClock(aheadMs, async () => {
          const own = await leftMs(holder, 1);
          between(own, LEASE_MS - (monotonicClock.now() - before) - GRAIN_MS, LEASE_MS + GRAIN_MS, 'its own lease');
        });
      },
    ]),
  ),
  'ends a lease without its holder, for everybody, whatever their clocks are, until he renews it': async (rows) => {
    const [holder, other] = [await rows.prepared(2), rows.open()];
    await rows.take(holder, 1, { leaseMs: SHORT_LEASE_MS });
    for (const aheadMs of [0, HOUR_MS, -HOUR_MS]) {
      const isOver = async (): Promise<boolean> => {
        const left = await leftMs(other, 1);
        assert.ok(left <= SHORT_LEASE_MS + GRAIN_MS, `a lease of ${SHORT_LEASE_MS} ms lasts another ${left} ms`);
        return left <= 0;
      };
      await atClock(aheadMs, () => until('the end of a lease', isOver));
    }
    await rows.take(holder, 1, { leaseMs: LEASE_MS });
    assert.ok((await leftMs(other, 1)) > 0, 'a lease that was renewed is over');
  },
};
