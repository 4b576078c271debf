import { KeeperBench, twins } from '../../../../test/support/engine/keeper-bench.js';
import { live, repeats } from '../../../../test/support/engine/live.js';

const HOUR = 3_600_000;
const TEN_YEARS = 10 * 365 * 24 * HOUR;

describe('a wall clock put forward', () => {
  it('by more than maxClockSkewMs makes the lease suspect, until a write has confirmed it', async () => {
    const bench = await KeeperBench.started();
    bench.database.time.step(HOUR);
    bench.time.step(HOUR);
    expect(bench.refusal()).toBe('LEASE_SUSPECT');
    expect(bench.keeper.status().state).toBe('suspect');
    // By the database's clock the lease is long over as well: the row goes back, and one is acquired anew.
    await bench.advance(30);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.story).toEqual(['lease-acquired', 'lease-suspect', 'lease-lost', 'lease-regained']);
  });

  it('burns what was granted before', async () => {
    const bench = await KeeperBench.started();
    const limit = bench.keeper.limit[0];
    bench.time.step(29_000);
    bench.issue();
    bench.time.step(1_001);
    expect(bench.refusal()).toBe('LEASE_SUSPECT');
    bench.time.step(-15_000);
    await bench.advance(1);
    expect(bench.keeper.base[0]).toEqual(limit);
    expect(bench.database.row(bench.workerId!)).toMatchObject({ lane: 1 });
    expect(bench.next()).toMatch(/:1:0$/);
    expect(bench.story).toEqual(['lease-acquired', 'lease-suspect']);
  });

  it.each([29_999, 30_000])('by %d ms is not suspicious', async (ms) => {
    const bench = await KeeperBench.started();
    bench.time.step(ms);
    expect(bench.refusal()).toBeUndefined();
  });

  it('twice within a reservation gives the worker up, and the next one serves', async () => {
    const bench = await KeeperBench.started();
    for (let jump = 0; jump < 2; jump++) {
      bench.issue();
      bench.time.step(-20_000);
      bench.issue();
      bench.time.step(31_000);
      expect(bench.refusal()).toBe('LEASE_SUSPECT');
      bench.time.step(-11_000);
      await bench.advance(30);
    }
    expect(bench.story).toContain('lease-regained');
    await live(5_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(bench)).toBe(0);
  });

  it('by ten years is a ClockSkewError, told once, and nothing of that time is issued', async () => {
    const bench = await KeeperBench.started();
    await live(5_000, bench);
    const reads = bench.store.calls.length;
    bench.time.step(TEN_YEARS);
    expect(bench.refusal()).toBe('LEASE_SUSPECT');
    await live(300_000, bench);
    expect(bench.refusal()).toBe('CLOCK_SKEW');
    expect(bench.story.filter((type) => type === 'lease-suspect')).toHaveLength(1);
    expect(bench.store.calls.length - reads).toBeLessThan(500);
    bench.time.step(-TEN_YEARS);
    await live(2_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(bench)).toBe(0);
    const ceiling = bench.resolved.layout.idCeil(bench.time.wall + 1_000);
    expect(bench.issued.every((id) => id <= ceiling)).toBe(true);
    for (const { odometers } of bench.database.table.rows.values()) {
      expect(Math.max(odometers[0].ms, odometers[1].ms)).toBeLessThan(bench.time.wall + 100_000);
    }
  });

  it('slowly, past the limit, is a ClockSkewError as well, and over when it is set right', async () => {
    const bench = await KeeperBench.started();
    for (let step = 0; step < 4; step++) {
      bench.time.step(8_000);
      await live(12_000, bench);
    }
    expect(bench.refusal()).toBe('CLOCK_SKEW');
    bench.time.step(-20_000);
    await live(4_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(bench)).toBe(0);
  });

  it('is not confirmed by a write that was sent before', async () => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 2_000 });
    await bench.advance(10_000);
    bench.time.step(31_000);
    expect(bench.refusal()).toBe('LEASE_SUSPECT');
    bench.time.step(-20_000);
    bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 2_000 });
    await bench.advance(1_500);
    expect(bench.refusal()).toBe('LEASE_SUSPECT');
    await bench.advance(3_000);
    expect(bench.refusal()).toBeUndefined();
  });
});

describe('a wall clock put back', () => {
  it.each([
    { times: 1, byMs: 100 },
    { times: 1, byMs: 2_000 },
    { times: 1, byMs: HOUR },
    { times: 2, byMs: 30_000 },
    { times: 7, byMs: 5_000 },
    { times: 60, byMs: 900 },
  ])('$times times by $byMs ms repeats nothing', async ({ times, byMs }) => {
    const bench = await KeeperBench.started();
    for (let step = 0; step < times; step++) {
      await live(2_000, bench);
      bench.time.step(-byMs);
      await live(2_000, bench);
    }
    expect(repeats(bench)).toBe(0);
    expect(bench.issued.length).toBeGreaterThan(20);
  });

  it('flips the lane by one background write, and the second time over the same moment waits', async () => {
    const bench = await KeeperBench.started();
    await live(60_000, bench);
    bench.time.step(-50_000);
    await live(200, bench);
    expect(bench.next()).toMatch(/:1:\d+$/);
    expect(bench.story).toEqual(['lease-acquired', 'clock-back']);
    expect(bench.database.row(bench.workerId!).lane).toBe(1);
    bench.time.step(-10_000);
    await live(4_000, bench);
    expect(bench.refusal()).toBe('CLOCK_MOVED_BACK');
    await live(6_000, bench);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(bench)).toBe(0);
  });

  it('before a restart goes on after what was issued before', async () => {
    const layout = { serviceMaxWorkId: 1 };
    const bench = await KeeperBench.started({ layout });
    await live(5_000, bench);
    await bench.keeper.close();
    const wall = bench.time.wall - 3_000;
    const next = await KeeperBench.started({ database: bench.database, layout, wall });
    await live(10_000, next);
    expect(next.issued.length).toBeGreaterThan(50);
    expect(repeats(bench, next)).toBe(0);
  });
});

describe('an event loop blocked for longer than the lease', () => {
  it('issues nothing until a write has confirmed the worker or found another', async () => {
    const bench = await KeeperBench.started();
    await live(15_000, bench);
    bench.time.freeze(61_000);
    expect(bench.refusal()).toBe('LEASE_LOST');
    await bench.advance(50);
    expect(bench.refusal()).toBeUndefined();
    expect(repeats(bench)).toBe(0);
    expect(bench.events).toContainEqual(
      expect.objectContaining({ type: 'lease-suspect', reason: 'the process was paused for 61100 ms' }),
    );
  });

  it('issues inside its grant when it was blocked for less', async () => {
    const bench = await KeeperBench.started();
    bench.time.freeze(59_000);
    expect(bench.refusal()).toBeUndefined();
    await bench.advance(1_000);
    expect(bench.story).toEqual(['lease-acquired']);
  });
});

describe('a copy of a process', () => {
  const ways = [
    { how: 'that is told so', notice: (bench: KeeperBench): void => bench.keeper.afterRestore() },
    { how: 'with a process id of its own', notice: (bench: KeeperBench): void => void (bench.processId = 2) },
  ];

  it.each(ways)('$how takes the worker over, and nothing is issued twice', async ({ notice }) => {
    const [original, copy] = await twins({}, 25_000);
    await live(1_000, original);
    notice(copy);
    await live(30_000, copy, original);
    expect(Math.min(copy.issued.length, original.issued.length)).toBeGreaterThan(100);
    expect(repeats(original, copy)).toBe(0);
    expect(copy.story).toContain('lease-suspect');
    expect(original.story).toContain('lease-lost');
  });

  it.each(ways)('$how issues nothing before', async ({ notice }) => {
    const [, copy] = await twins({}, 25_000);
    notice(copy);
    copy.store.goDown();
    expect(copy.refusal()).toBe('LEASE_SUSPECT');
    await live(5_000, copy);
    expect(copy.issued).toEqual([]);
  });

  it('of which only copies are left: at most one keeps the worker', async () => {
    const [first, second] = await twins({}, 25_000);
    first.keeper.afterRestore();
    second.keeper.afterRestore();
    await live(30_000, first, second);
    expect(first.workerId).not.toBe(second.workerId);
    expect(Math.min(first.issued.length, second.issued.length)).toBeGreaterThan(100);
    expect(repeats(first, second)).toBe(0);
  });

  it.each(ways)('$how gives nothing back that the original may have issued', async ({ notice }) => {
    const layout = { serviceMaxWorkId: 1 };
    const [original, copy] = await twins({ layout }, 25_000);
    await live(2_000, original);
    notice(copy);
    await copy.keeper.close();
    const next = await KeeperBench.started({ database: original.database, layout });
    await live(3_000, original, next);
    expect(next.issued.length).toBeGreaterThan(20);
    expect(repeats(original, next)).toBe(0);
  });

  it.each(ways)('$how made while a write was under way never undercuts that write', async ({ notice }) => {
    for (const close of [true, false]) {
      const [original, copy] = await twins({ layout: { serviceMaxWorkId: 2 } }, 10_000, async (bench, isCopy) => {
        bench.store.next('write', undefined, isCopy ? { kind: 'hangs' } : { kind: 'slow', thereMs: 500, backMs: 0 });
        await bench.keeper.start();
      });
      await live(1_000, original);
      notice(copy);
      if (close) await Promise.all([copy.keeper.close(), live(20_000, original)]);
      else await live(20_000, copy, original);
      const next = await KeeperBench.started({ database: original.database, layout: { serviceMaxWorkId: 3 } });
      await live(20_000, original, copy, next);
      expect(repeats(original, copy, next)).toBe(0);
    }
  });

  it.each(ways)('$how made while a block was being reserved never undercuts that block', async ({ notice }) => {
    const layout = { timeUnit: 'hour', timeStampLength: 45, serviceMaxWorkId: 1 } as const;
    const [original, copy] = await twins({ layout }, 100, async (bench, isCopy) => {
      bench.store.next('write', undefined, isCopy ? { kind: 'hangs' } : { kind: 'slow', thereMs: 500, backMs: 0 });
      await bench.keeper.start();
      for (let count = 0; count < 16; count++) bench.issue();
    });
    await original.advance(600);
    for (let count = 0; count < 6; count++) original.issue();
    notice(copy);
    await Promise.all([copy.keeper.close(), copy.advance(5_000)]);
    expect(original.store.writes).toHaveLength(2);
    const next = await KeeperBench.started({ database: original.database, layout });
    await live(1_000, next);
    expect(next.issued).toHaveLength(10);
    expect(repeats(original, next)).toBe(0);
  });

  it('of an hour worker goes on with a fresh block, by the one write that confirms it', async () => {
    const layout = { timeUnit: 'hour', timeStampLength: 45 } as const;
    const bench = await KeeperBench.started({ layout });
    const before = [bench.issue(), bench.issue()];
    bench.keeper.afterRestore();
    await bench.advance(1);
    expect(bench.store.writes).toHaveLength(2);
    expect(bench.next()).toMatch(/:0:16$/);
    expect(before).not.toContain(bench.issued.at(-1));
  });

  it.each(ways)('$how made while it was starting is not fooled either', async ({ notice }) => {
    const slow = { kind: 'slow', thereMs: 0, backMs: 1_000 } as const;
    const starts: Promise<void>[] = [];
    const [original, copy] = await twins({}, 1_500, (bench) => {
      bench.store.next('readAgain', slow);
      bench.store.next('write', slow);
      starts.push(bench.keeper.start());
      return Promise.resolve();
    });
    notice(copy);
    await live(30_000, original, copy);
    await Promise.all(starts);
    expect(Math.min(copy.issued.length, original.issued.length)).toBeGreaterThan(50);
    expect(repeats(original, copy)).toBe(0);
  });

  it.each(ways)('$how whose start fails leaves the row of the original alone', async ({ notice }) => {
    const slow = { kind: 'slow', thereMs: 0, backMs: 1_000 } as const;
    const layout = { serviceMaxWorkId: 1 };
    const [original, copy] = await twins({ layout }, 500, (bench, isCopy) => {
      bench.store.next('readAgain', isCopy ? slow : undefined);
      bench.keeper.start().catch(() => undefined);
      return Promise.resolve();
    });
    const row = original.database.row(1);
    copy.store.next('rememberLayout', { kind: 'refused' });
    await live(300, original);
    notice(copy);
    await live(2_000, original, copy);
    expect(copy.store.calls).toContain('rememberLayout');
    expect(original.database.row(1)).toEqual(row);
  });
});
