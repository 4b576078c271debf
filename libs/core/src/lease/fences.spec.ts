import {
  fence,
  fingerprintOf,
  LARGER,
  NO_STATE,
  onServer,
  OURS,
  processAt,
  REACH_MS,
  reachOf,
  served,
  starting,
  EARLIER_MS,
} from '../../../../test/support/engine/fence-bench.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';
import type { LayoutOptions } from '../layout/layout-options.js';
import { chooseLayout } from './layout-choice.js';
import { MemoryWorkerStore } from './memory-worker-store.js';

const DAY_MS = 86_400_000;
describe('a fence of a table that was restored to another server', () => {
  it.each([
    ['with its state', true],
    ['without its state', false],
  ])('repeats no ID, clocks as far apart as is allowed: %s', async (_, hasState) => {
    const before = onServer('server 1');
    const holders = [1, 2].map((seed) => starting(seed, { database: before, aheadMs: 29_000 }));
    await live(20_000, ...holders);
    const after = new WorkerDatabase(before.time.another(before.time.wall - 59_000));
    before.restore(before.table, after.table);
    after.table.term = 'server 2';
    after.table.rows.delete(2);
    if (!hasState) after.table.state = NO_STATE;
    // The former server is stopped: the holders issue until their leases end.
    for (const { store } of holders) store.goDown();
    await fence(after);
    const started = [3, 4].map((seed) => starting(seed, { database: after, aheadMs: 29_000 }));
    await live(300_000, ...holders, ...started);
    expect(started.every(({ issued }) => issued.length > 100)).toBe(true);
    expect(repeats(...holders, ...started)).toBe(0);
  });
});

it('a fence of a table that was restored to another server bars it from that moment on, not from the first start', async () => {
  const database = onServer('server 1');
  await served(1, { database }, 2_000);
  database.table.term = 'server 2';
  await fence(database, {}, { servedAlone: fingerprintOf(database) });
  await database.advance(REACH_MS + 1_000);
  const next = starting(2, { database });
  await live(5_000, next);
  expect(next.refusal()).toBeUndefined();
});

/** The other servers are stopped and a former primary is fenced, as docs/operations.md says. */
async function fencedFormerPrimary({ hasRow = true, hadFailover = false, forMs = REACH_MS } = {}): Promise<
  KeeperBench[]
> {
  const database = onServer('server 1');
  const beganMs = database.time.wall;
  database.time.step(-30_000);
  if (hadFailover) {
    database.table.state = { knownTerm: 'server 1', failoverNumber: 5, lostAtMs: beganMs - 9e9, reachMs: REACH_MS };
  }
  const survivor = starting(1, { database, aheadMs: 29_000 });
  await live(12_000, survivor);
  const former = database.snapshot();
  // A failover to server 2, whose clock is 59 s ahead of server 1's.
  database.table.term = 'server 2';
  database.time.step(59_000);
  await live(15_000, survivor);
  const other = starting(2, { database, aheadMs: 29_000 });
  await live(260_000, survivor, other);
  expect([survivor.refusal(), other.refusal()]).toEqual([undefined, undefined]);
  database.restore(former);
  if (!hasRow) database.table.rows.delete(other.workerId!);
  database.table.term = 'server 1';
  database.time.step(-59_000);
  other.store.goDown();
  await fence(database);
  const { state } = database.table;
  database.table.state = { ...state, fencedUntilMs: Math.min(state.fencedUntilMs!, database.time.wall + forMs) };
  await live(12_000, survivor, other);
  const started = [3, 4].map((seed) => starting(seed, { database, aheadMs: 29_000 }));
  await live(330_000, survivor, other, ...started);
  expect([survivor, ...started].filter((each) => each.refusal() === undefined)).toHaveLength(2);
  return [survivor, other, ...started];
}

describe('a fence of a former primary', () => {
  const CASES = [
    { hasRow: true, hadFailover: false },
    { hasRow: false, hadFailover: false },
    { hasRow: true, hadFailover: true },
    { hasRow: false, hadFailover: true },
  ];

  it.each(CASES)('repeats no ID: $hasRow, $hadFailover', async (past) => {
    expect(repeats(...(await fencedFormerPrimary(past)))).toBe(0);
  });

  it('repeats IDs when it bars for less than a failover does: the test can fail', async () => {
    const all = await fencedFormerPrimary({ hasRow: false, hadFailover: true, forMs: 95_000 });
    expect(repeats(...all)).toBeGreaterThan(10);
  });
});

describe('a fence of a former primary, whose successor issued with another layout', () => {
  it('repeats no ID of that layout', async () => {
    const database = onServer('server 1');
    database.time.step(-30_000);
    const beganMs = Date.parse('2024-01-01');
    const layout = { serviceMaxWorkId: 1, startTimeStamp: beganMs };
    const first = starting(1, { database, layout });
    await live(5_000, first);
    await first.keeper.close();
    const former = database.snapshot();
    database.table.term = 'server 2';
    database.time.step(59_000);
    const other = starting(2, { database, aheadMs: 29_000, layout });
    await live(260_000, other);
    expect(other.refusal()).toBeUndefined();
    database.restore(former);
    database.table.term = 'server 1';
    database.time.step(-59_000);
    other.store.goDown();
    await fence(database);
    // The same bits with an epoch that is 100 s later: its IDs are those of the other layout 100 s before.
    const later = { serviceMaxWorkId: 1, startTimeStamp: beganMs + 100_000 };
    const next = starting(3, { database, aheadMs: 29_000, layout: later });
    await live(400_000, other, next);
    expect(next.issued.length).toBeGreaterThan(100);
    expect(repeats(other, next)).toBe(0);
  });
});

describe('a failover to a server that lacks the fence', () => {
  /** @returns how many IDs repeat */
  async function repeatedAfter(hasRecord: boolean): Promise<number> {
    const database = onServer('server 1');
    const layout = { serviceMaxWorkId: 1 };
    if (hasRecord) await served(3, { database, layout }, 2_000);
    const backup = database.snapshot();
    const lost = starting(1, { database, layout });
    await live(5_000, lost);
    lost.store.goDown();
    database.restore(backup);
    const standby = database.snapshot();
    await fence(database);
    database.restore(standby);
    database.table.term = 'server 2';
    const next = starting(2, { database, layout });
    await live(REACH_MS + 20_000, lost, next);
    expect(next.issued.length).toBeGreaterThan(100);
    return repeats(lost, next);
  }

  it('repeats no ID where the backup has a record of its server', async () => {
    expect(await repeatedAfter(true)).toBe(0);
  });

  it('is a limit where the backup is older than the first record: the table passes for a new one', async () => {
    expect(await repeatedAfter(false)).toBeGreaterThan(10);
  });
});

describe('after a fence', () => {
  it('a service with a longer horizon that comes a day later waits for nothing', async () => {
    const database = onServer('server 1');
    const holder = starting(1, { database, layout: { serviceMaxWorkId: 3 } });
    await live(5_000, holder);
    await fence(database);
    await live(REACH_MS + 20_000, holder);
    expect(holder.refusal()).toBeUndefined();
    await holder.keeper.close();
    database.time.freeze(DAY_MS);
    const again = starting(4, { database, layout: { serviceMaxWorkId: 3 } });
    await live(20_000, again);
    expect(again.refusal()).toBeUndefined();
    const longer = starting(2, { database, layout: { serviceMaxWorkId: 3 }, lease: { horizonMs: 2 * DAY_MS } });
    const usual = starting(3, { database, layout: { serviceMaxWorkId: 3 } });
    await live(20_000, again, longer, usual);
    expect([longer.refusal(), usual.refusal()]).toEqual([undefined, undefined]);
  });

  it('by an operator whose options have a long horizon a later failover bars as long as usual', async () => {
    const database = onServer('server 1');
    const holder = starting(1, { database });
    await live(5_000, holder);
    await fence(database, { horizonMs: 2 * DAY_MS });
    await live(20_000, holder);
    await holder.keeper.close();
    database.time.freeze(30 * DAY_MS);
    const later = starting(3, { database });
    await live(20_000, later);
    expect(later.refusal()).toBeUndefined();
    database.table.term = 'server 2';
    await live(5_000, later);
    const next = starting(2, { database });
    await live(REACH_MS + 20_000, later, next);
    expect(next.refusal()).toBeUndefined();
  });

  it('a second one that is shorter leaves the bar of the first', async () => {
    const database = onServer('server 1');
    await fence(database, { horizonMs: DAY_MS });
    await database.advance(5_000);
    const store = new MemoryWorkerStore(database.table, () => database.time.wall, REACH_MS);
    const { barredUntilMs: first } = await store.readTable();
    await fence(database);
    expect((await store.readTable()).barredUntilMs).toBe(first);
  });

  it.each([
    ['does not shut ours out, where the operator knows that it has not served since', true, false, undefined],
    ['does not shut ours out, where the operator knows so and restores to another server', true, true, undefined],
    ['shuts ours out: it may have served since the backup', false, false, 'LEASE_LOST'],
  ])('a layout of the past whose IDs grow faster than ours %s', async (_, onlyThisLayout, isElsewhere, refusal) => {
    const rows = { workIdLength: 3, serviceMaxWorkId: 3 };
    const ours = { ...rows, timeUnit: 'second', timeStampLength: 33, startTimeStamp: '2017-01-01' } as const;
    const database = onServer('server 1');
    // Two of its rows were never ours since, and one was never used.
    const old = [1, 5].map((seed) =>
      starting(seed, { database, layout: { ...rows, startTimeStamp: Date.parse('2024-01-01') } }),
    );
    await live(3_000, ...old);
    for (const each of old) await each.keeper.close();
    await database.advance(100 * DAY_MS);
    const holder = starting(2, { database, layout: ours });
    await live(10_000, holder);
    expect(holder.refusal()).toBeUndefined();
    if (isElsewhere) {
      holder.kill();
      database.table.term = 'server 2';
    }
    const stated = onlyThisLayout ? { servedAlone: fingerprintOf(database, ours) } : {};
    await fence(database, {}, stated);
    // Once more, as an operator may.
    await fence(database, {}, stated);
    const next = isElsewhere ? starting(3, { database, layout: ours }) : holder;
    await live(REACH_MS + 20_000, next);
    expect(next.refusal()).toBe(refusal);
  });

  describe.each(['', 'server 1'])('of a table that served nothing, on the server %p', (term) => {
    const chosen = async (served: Partial<LayoutOptions> | undefined): Promise<string> => {
      const database = onServer(term);
      const store = new MemoryWorkerStore(database.table, () => database.time.wall, REACH_MS);
      await store.prepare({ min: 1, max: 3 });
      await fence(database, {}, served && { servedAlone: fingerprintOf(database, served) });
      const { layout } = processAt(9, { database }).resolved;
      const choice = chooseLayout(await store.readTable(), layout, { graceMs: 0, adoptForeign: false });
      return choice.layout.fingerprint;
    };

    it('a service without a layout does not start: the backup may be older than any layout', async () => {
      await expect(chosen(undefined)).rejects.toMatchObject({ errorCode: 'UNCLEAR_LAYOUT' });
    });

    it('it starts with the layout of which the operator knows that it alone has served', async () => {
      expect(await chosen(LARGER)).toBe(fingerprintOf(onServer(term), LARGER));
    });
  });
});

describe('a restore, and a layout that has issued since the backup', () => {
  /** @returns how many IDs repeat after the fences of an operator */
  async function repeatedAfter(
    makeBackup: (database: WorkerDatabase) => Promise<void>,
    fences: (database: WorkerDatabase) => Promise<unknown>,
  ): Promise<number> {
    const database = onServer('server 1');
    await makeBackup(database);
    const backup = database.snapshot();
    const larger = await served(2, { database, layout: LARGER }, 60_000);
    expect(larger.issued.length).toBeGreaterThan(100);
    database.restore(backup);
    await fences(database);
    const next = starting(3, { database, layout: OURS });
    await live(REACH_MS + EARLIER_MS + 40_000, next);
    expect(next.issued.length).toBeGreaterThan(100);
    return repeats(larger, next);
  }

  const withCanary = async (database: WorkerDatabase): Promise<void> => {
    await served(1, { database, layout: LARGER }, 2_000);
    await database.advance(EARLIER_MS + REACH_MS);
    await served(4, { database, layout: OURS }, 5_000);
  };
  const without = async (database: WorkerDatabase): Promise<void> => {
    await served(4, { database, layout: OURS }, 5_000);
  };
  const named = async (database: WorkerDatabase): Promise<void> => {
    await fence(database);
    const store = new MemoryWorkerStore(database.table, () => database.time.wall, REACH_MS);
    for (const layout of [LARGER, OURS]) await store.rememberLayout(fingerprintOf(database, layout));
  };

  it('repeats no ID where the backup knows that layout', async () => {
    expect(await repeatedAfter(withCanary, fence)).toBe(0);
  });

  it('repeats no ID where the backup does not know it, and the operator names it', async () => {
    expect(await repeatedAfter(without, named)).toBe(0);
  });

  it.each([
    ['knows', withCanary],
    ['does not know', without],
  ])(
    'repeats no ID where the operator states rightly that it alone has served, and ours starts first: the backup %s it',
    async (_, makeBackup) => {
      const alone = (database: WorkerDatabase): Promise<number> =>
        fence(database, {}, { servedAlone: fingerprintOf(database, LARGER) });
      expect(await repeatedAfter(makeBackup, alone)).toBe(0);
    },
  );

  it.each([
    ['states that only ours has served', withCanary, true],
    ['does not name it, and the backup does not know it', without, false],
  ])('repeats IDs where the operator %s: the test can fail', async (_, makeBackup, isStated) => {
    const wrongly = (database: WorkerDatabase): Promise<number> =>
      fence(database, {}, isStated ? { servedAlone: fingerprintOf(database, OURS) } : {});
    expect(await repeatedAfter(makeBackup, wrongly)).toBeGreaterThan(10);
  });
});

describe('a fence by a wrong clock', () => {
  it('lowers no loss that was recorded by a clock that was ahead', async () => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 2_000);
    const before = database.snapshot();
    // Host and database are ahead together.
    database.time.step(50_000);
    const lost = starting(2, { database, layout: OURS });
    await live(3_000, lost);
    lost.store.goDown();
    database.restore(before);
    database.table.term = 'server 2';
    const recorder = starting(3, { database, layout: OURS });
    await live(1_000, recorder);
    await recorder.keeper.close();
    database.time.step(-50_000);
    await fence(database);
    const next = starting(4, { database, layout: OURS });
    await live(REACH_MS + 70_000, lost, next);
    expect(next.issued.length).toBeGreaterThan(100);
    expect(repeats(lost, next)).toBe(0);
  });

  const HOUR_MS = 3_600_000;

  const behind = ({ time }: WorkerDatabase): void => time.step(-100_000);
  const lossLater = ({ table, time }: WorkerDatabase): void => {
    table.state = { ...table.state, lostAtMs: time.wall + 100_000 };
  };

  it.each([
    ['a row was written later', behind, {}, 'CLOCK_BEHIND'],
    ['a loss was recorded later', lossLater, {}, 'CLOCK_BEHIND'],
    ['nothing is wrong', () => {}, {}, undefined],
    ['a row was written later, but the operator says up to when IDs exist', behind, { issuedUntilMs: 0 }, undefined],
    ['a loss was recorded later, but the operator says so', lossLater, { issuedUntilMs: 0 }, undefined],
  ])('is refused where %s', async (_, change, more, errorCode) => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    change(database);
    const seen = (): string => JSON.stringify([...database.table.rows.values(), database.table.state]);
    const before = seen();
    const refusal: unknown = await fence(database, {}, more).catch((error: unknown) => error);
    expect((refusal as { errorCode?: string }).errorCode).toBe(errorCode);
    expect(seen() === before).toBe(errorCode !== undefined);
  });

  it('is refused where an earlier fence was made later: the backup is younger than that', async () => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    await database.advance(HOUR_MS);
    await fence(database);
    const backup = database.snapshot();
    const lost = starting(2, { database, layout: OURS });
    await live(REACH_MS + 60_000, lost);
    lost.kill();
    database.restore(backup);
    // Host and database agree with each other.
    database.time.step(-HOUR_MS);
    await expect(fence(database)).rejects.toMatchObject({ errorCode: 'CLOCK_BEHIND' });
  });

  it.each([
    ['by a clock that was 40 days ahead', 40 * DAY_MS, undefined],
    ['with a time that was mistyped', 0, 40 * DAY_MS],
  ])('is taken back by a second one that states up to when IDs exist: %s', async (_, aheadMs, untilMs) => {
    const database = onServer('server 1');
    await served(1, { database, layout: OURS }, 5_000);
    const issuedUntilMs = database.time.wall;
    database.time.step(aheadMs);
    await fence(database, {}, untilMs === undefined ? {} : { issuedUntilMs: issuedUntilMs + untilMs });
    database.time.step(-aheadMs);
    await database.advance(1_000);
    await fence(database, {}, { issuedUntilMs });
    const next = starting(2, { database, layout: OURS });
    await live(REACH_MS + 60_000, next);
    expect(next.refusal()).toBeUndefined();
    await expect(fence(database)).resolves.toBe(1);
  });
});

describe('a fence of a store that has one clock with its process, as SQLite and state files', () => {
  it.each([
    ['repeats no ID', 95_000, 0],
    ['repeats IDs when it reckons with one wrong clock alone: the test can fail', 33_000, 10],
  ])('that was restored on another host, clocks as far apart as is allowed: %s', async (_, aheadMs, least) => {
    const lease = { heartbeatIntervalMs: 500, opTimeoutMs: 1_000, leaseMs: 3_000, horizonMs: 5_000, graceMs: 0 };
    const before = onServer('');
    before.time.step(29_000);
    await served(1, { database: before, layout: OURS, lease }, 2_000);
    const backup = before.snapshot();
    await before.advance(600_000);
    const lost = starting(2, { database: before, layout: OURS, lease });
    await live(60_000, lost);
    lost.kill();
    const after = new WorkerDatabase(before.time.another(before.time.wall - 58_000));
    before.restore(backup, after.table);
    await new MemoryWorkerStore(after.table, () => after.time.wall, reachOf(lease)).fence(fenceRequest(aheadMs));
    const next = starting(3, { database: after, layout: OURS, lease });
    await live(120_000, next);
    expect(next.issued.length).toBeGreaterThan(100);
    const all = new Set(lost.issued);
    const repeated = next.issued.filter((id) => all.has(id)).length;
    expect(least === 0 ? repeated === 0 : repeated > least).toBe(true);
  });
});
