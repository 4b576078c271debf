import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { caught } from '../../../../test/support/engine/caught.js';
import type { LayoutOptions } from '../layout/layout-options.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { judgeLayouts } from './layout-choice.js';
import { LayoutConflictError } from './lease-errors.js';
import { MemoryWorkerStore } from './memory-worker-store.js';
import { unusedRow, type WorkerRow, type WorkerTable } from './worker-store.js';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');

/** Not disjoint from the bench's own layout: a worker bit more, a sequence bit less. */
const OTHER: Partial<LayoutOptions> = { workIdLength: 4, serviceMinWorkId: 9, serviceMaxWorkId: 11 };

function conflictOf(bench: KeeperBench): Promise<LayoutConflictError> {
  return bench.keeper.start().then(
    () => Promise.reject(new Error('it started')),
    (error: LayoutConflictError) => error,
  );
}

/** A process of another layout that has issued. */
async function otherOn(database: WorkerDatabase, options: KeeperBenchOptions = {}): Promise<KeeperBench> {
  const bench = await KeeperBench.started({ database, layout: OTHER, ...options });
  bench.issue();
  return bench;
}

function shared(a: KeeperBench, b: KeeperBench): bigint[] {
  const ids = new Set(a.issued);
  return b.issued.filter((id) => ids.has(id));
}

describe('a layout that is alive on the table', () => {
  it('outside our range too is in the way: the error names it and its rows, and nothing is written', async () => {
    const database = new WorkerDatabase();
    const others = [await otherOn(database, { seed: 1 }), await otherOn(database, { seed: 2 })];
    const bench = new KeeperBench({ database });
    const error = await conflictOf(bench);
    expect(error).toBeInstanceOf(LayoutConflictError);
    const { fingerprint } = others[0]!.resolved.layout;
    const workerIds = others.map(({ workerId }) => workerId!).sort((a, b) => a - b);
    expect(error.conflicts).toEqual([{ layout: fingerprint, workerIds }]);
    expect(error.layout).toBe(bench.resolved.layout.fingerprint);
    expect(error.message).toContain(`${fingerprint} (held by workers ${workerIds.join(', ')})`);
    expect(error.retryable).toBe(false);
    expect(bench.store.writes).toEqual([]);
    expect(bench.time.pending.size).toBe(0);
  });

  it('is in the way until lease and grace are over', async () => {
    const database = new WorkerDatabase();
    const other = await otherOn(database);
    other.kill();
    await database.advance(119_999);
    expect((await conflictOf(new KeeperBench({ database }))).conflicts[0]!.workerIds).toEqual([other.workerId]);
    await database.advance(1);
    const bench = await KeeperBench.started({ database });
    expect(bench.issue()).toBeGreaterThan(other.resolved.layout.idCeil(database.time.wall - 120_000 + 65_000));
  });

  it('that comes between our look and our write is seen afterwards, and the row goes back as it was found', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 1 });
    const earlier = await KeeperBench.started({ database, layout: { serviceMaxWorkId: 1, timeBackBitValue: 1 } });
    earlier.issue();
    await earlier.keeper.close();
    await database.advance(1_000);
    const before = database.row(1);
    const bench = new KeeperBench({ database, layout: { serviceMaxWorkId: 1 } });
    bench.store.next('write', { kind: 'slow', thereMs: 100, backMs: 0 });
    const failing = conflictOf(bench);
    await database.advance(50);
    // Written as such: a process of that layout would find our past in its own way.
    const { fingerprint } = new KeeperBench({ layout: OTHER }).resolved.layout;
    const live = { token: 'theirs', layout: fingerprint, leaseUntilMs: NOW + 600_000, version: 1, ownVersion: 1 };
    database.table.rows.set(9, { ...before, ...live, id: 9, code: 'another code' });
    await database.advance(100);
    expect((await failing).conflicts).toEqual([{ layout: fingerprint, workerIds: [9] }]);
    expect(bench.store.writes).toHaveLength(2);
    const { odometers, lane, layout } = before;
    expect(database.row(1)).toMatchObject({ token: '', odometers, lane, layout, version: 4, ownVersion: 4 });
    expect(bench.issued).toEqual([]);
  });

  it('and started at the very same time is never let in beside ours', async () => {
    const outcomes = { none: 0, one: 0 };
    let seed = 12;
    const delay = (): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % 40;
    for (let round = 0; round < 150; round++) {
      const database = new WorkerDatabase();
      const pair = [new KeeperBench({ database }), new KeeperBench({ database, layout: OTHER })];
      for (const { store } of pair) {
        store.faultFor = () => ({ kind: 'slow', thereMs: delay(), backMs: delay() });
      }
      const starts = Promise.allSettled(pair.map((bench) => bench.keeper.start()));
      await database.advance(5_000);
      const started = (await starts).filter(({ status }) => status === 'fulfilled').length;
      expect(started).toBeLessThan(2);
      outcomes[started === 0 ? 'none' : 'one']++;
      const served = pair.filter((bench) => bench.refusal() === undefined);
      expect(served).toHaveLength(started);
      expect(database.table.layouts.size).toBe(started);
    }
    // Both orders of events were met.
    expect(outcomes.none).toBeGreaterThan(5);
    expect(outcomes.one).toBeGreaterThan(5);
  });

  it('but never issued is no concern of a later process', async () => {
    const database = new WorkerDatabase();
    const other = await otherOn(database);
    const refused = new KeeperBench({ database });
    await conflictOf(refused);
    const { fingerprint } = refused.resolved.layout;
    expect([...database.table.layouts]).toEqual([other.resolved.layout.fingerprint]);
    expect([...database.table.rows.values()].some(({ layout }) => layout === fingerprint)).toBe(false);
    await expect(otherOn(database, { seed: 3 })).resolves.toBeInstanceOf(KeeperBench);
  });

  it('that was refused after its write leaves nothing behind either', async () => {
    const database = new WorkerDatabase();
    const refused = new KeeperBench({ database });
    refused.store.next('write', { kind: 'slow', thereMs: 100, backMs: 0 });
    const failing = conflictOf(refused);
    await database.advance(50);
    const other = await otherOn(database);
    await database.advance(100);
    await failing;
    const { fingerprint } = refused.resolved.layout;
    expect([...database.table.layouts]).toEqual([other.resolved.layout.fingerprint]);
    expect([...database.table.rows.values()].some(({ layout }) => layout === fingerprint)).toBe(false);
    await expect(otherOn(database, { seed: 3 })).resolves.toBeInstanceOf(KeeperBench);
  });
});

describe('layouts whose end bits differ', () => {
  const even = { workIdLength: 3, endBitsLength: 1, endBitsValue: 0, serviceMaxWorkId: 2 };
  const odd = { workIdLength: 4, endBitsLength: 2, endBitsValue: 3, serviceMaxWorkId: 2 };

  it('issue at once from one table, with the same workers, and never the same ID', async () => {
    const database = new WorkerDatabase();
    const layouts = [even, odd];
    const issued = [new Set<bigint>(), new Set<bigint>()];
    const used = [new Set<number>(), new Set<number>()];
    let count = 0;
    for (let round = 0; round < 12; round++) {
      const pair = await Promise.all(
        layouts.map((layout, index) => KeeperBench.started({ database, layout, seed: round * 2 + index + 1 })),
      );
      for (let batch = 0; batch < 20; batch++) {
        pair.forEach((bench, index) => {
          for (let each = 0; each < 25; each++) issued[index]!.add(bench.issue());
          used[index]!.add(bench.workerId!);
          count += 25;
        });
        await database.advance(1);
      }
      await Promise.all(pair.map((bench) => bench.keeper.close()));
    }
    expect(used.map((workers) => [...workers].sort())).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(new Set([...issued[0]!, ...issued[1]!]).size).toBe(count);
  });

  it('differ where layouts without end bits meet: those, on tables of their own, do share IDs', async () => {
    const start = (layout: Partial<LayoutOptions>): Promise<KeeperBench> => KeeperBench.started({ layout });
    const ours = await start({ serviceMinWorkId: 1, serviceMaxWorkId: 1 });
    const theirs = await start({ workIdLength: 4, serviceMinWorkId: 2, serviceMaxWorkId: 2 });
    for (const bench of [ours, theirs]) for (let each = 0; each < 10; each++) bench.issue();
    expect(shared(ours, theirs)).toHaveLength(10);
    expect(ours.resolved.layout.disjointFrom(theirs.resolved.layout)).toBe(false);
  });

  it('are refused when the bits that both have are equal', async () => {
    const database = new WorkerDatabase();
    await KeeperBench.started({ database, layout: even });
    const bench = new KeeperBench({ database, layout: { ...odd, endBitsValue: 2 } });
    expect((await conflictOf(bench)).errorCode).toBe('LAYOUT_CONFLICT');
  });
});

describe('a layout of the past', () => {
  it.each([
    { name: 'at the present', behindMs: 0, allowed: false },
    { name: 'a tick ago', behindMs: 1, allowed: true },
    { name: 'in the future', behindMs: -60_000, allowed: false },
  ])('whose highest odometer is $name is let in: $allowed', async ({ behindMs, allowed }) => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 9 });
    const { layout: other } = new KeeperBench({ layout: OTHER }).resolved;
    const odometer = { ms: NOW - behindMs, sequence: 0 };
    // The row that is furthest ahead may lie outside our range, on any lane.
    database.change(9, { layout: other.fingerprint, code: 'another', odometers: [{ ms: 0, sequence: -1 }, odometer] });
    const bench = new KeeperBench({ database });
    if (allowed) {
      await bench.keeper.start();
      expect(bench.issue()).toBeGreaterThan(other.idCeil(odometer.ms));
    } else {
      const { conflicts, message } = await conflictOf(bench);
      expect(conflicts).toEqual([{ layout: other.fingerprint, workerIds: [] }]);
      expect(message).toContain('(former)');
      expect(message).toContain('endBitsValue');
    }
  });

  it('that is a little ahead says when it clears up, and a start may wait for that', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 9 });
    const { layout: other } = new KeeperBench({ layout: OTHER }).resolved;
    const ahead = { ms: NOW + 60_000, sequence: 0 };
    database.change(9, { layout: other.fingerprint, code: 'another', odometers: [{ ms: 0, sequence: -1 }, ahead] });
    const { retryable, clearsAtMs } = await conflictOf(new KeeperBench({ database }));
    expect({ retryable, clearsAtMs }).toEqual({ retryable: true, clearsAtMs: NOW + 60_001 });
    const waiting = new KeeperBench({ database, lease: { waitForWorkerMs: 90_000 } });
    const starting = waiting.keeper.start();
    await database.advance(60_001);
    await Promise.all([starting, database.advance(1_000)]);
    expect(waiting.issue()).toBeGreaterThan(other.idCeil(ahead.ms));
  });

  it('that is ahead by more than a day is no matter of waiting', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 9 });
    const { layout: other } = new KeeperBench({ layout: OTHER }).resolved;
    const ahead = { ms: NOW + 86_400_000, sequence: 0 };
    database.change(9, { layout: other.fingerprint, code: 'another', odometers: [{ ms: 0, sequence: -1 }, ahead] });
    const error = await conflictOf(new KeeperBench({ database, lease: { waitForWorkerMs: 90_000 } }));
    expect([error.retryable, error.clearsAtMs]).toEqual([false, undefined]);
  });

  it('is counted by its row that was marked deleted, and is alive there until its lease and grace are over', async () => {
    const database = new WorkerDatabase();
    const other = await otherOn(database);
    const id = other.workerId!;
    database.table.deleted.set(id, database.row(id));
    database.table.rows.delete(id);
    expect((await conflictOf(new KeeperBench({ database }))).conflicts[0]!.workerIds).toEqual([id]);
    other.kill();
    await database.advance(120_000);
    database.table.deleted.set(id, {
      ...database.table.deleted.get(id)!,
      odometers: [
        { ms: NOW + 9e6, sequence: 0 },
        { ms: 0, sequence: -1 },
      ],
    });
    expect((await conflictOf(new KeeperBench({ database }))).conflicts[0]!.workerIds).toEqual([]);
  });

  it('is counted although no row names it any more', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 9 });
    const { layout: other } = new KeeperBench({ layout: OTHER }).resolved;
    const third = new KeeperBench({ layout: { endBitsLength: 1, endBitsValue: 1 } }).resolved.layout.fingerprint;
    database.table.layouts.add(other.fingerprint);
    const ahead = { ms: NOW + 10_000, sequence: 0 };
    database.change(9, { layout: third, code: 'another', odometers: [ahead, { ms: 0, sequence: -1 }] });
    const bench = new KeeperBench({ database, layout: { endBitsLength: 1, endBitsValue: 0 } });
    expect((await conflictOf(bench)).conflicts).toEqual([{ layout: other.fingerprint, workerIds: [] }]);
  });

  const units = { millisecond: [41, 44], second: [31, 40], minute: [25, 34], hour: [19, 30], day: [15, 28] } as const;
  const anyLayout = fc
    .record({
      timeUnit: fc.constantFrom(...(Object.keys(units) as (keyof typeof units)[])),
      extra: fc.nat(),
      workIdLength: fc.integer({ min: 3, max: 10 }),
      endBitsLength: fc.integer({ min: 0, max: 3 }),
      startTimeStamp: fc.integer({ min: NOW - 9e10, max: NOW - 1 }),
    })
    .map(({ extra, ...rest }) => {
      const [min, max] = units[rest.timeUnit];
      const timeStampLength = min + (extra % (max - min + 1));
      const layout = { ...rest, timeStampLength, serviceMaxWorkId: 3, minLifetimeDays: 0 };
      return new KeeperBench({ layout }).resolved.layout;
    });

  it('is let go exactly when every ID of ours is larger than every one of its', () => {
    const outcomes = new Map<boolean, number>();
    fc.assert(
      fc.property(anyLayout, anyLayout, fc.integer({ min: -2e9, max: 2e8 }), (mine, other, offset) => {
        fc.pre(!mine.disjointFrom(other));
        const ms = NOW + offset;
        const row: WorkerRow = {
          id: 9,
          version: 4,
          ownVersion: 4,
          token: '',
          holder: '',
          code: 'x',
          heartbeatMs: 0,
          lane: 0 as const,
          layout: other.fingerprint,
          leaseUntilMs: 0,
          odometers: [
            { ms: 0, sequence: -1 },
            { ms, sequence: 0 },
          ],
        };
        const table: WorkerTable = { nowMs: NOW, rows: [row], deleted: [], layouts: [] };
        const tick = Math.min(Math.max(other.timeline.tickAt(ms), 0), other.maxTick);
        const { maxWorkerId: workerId, maxSequence: sequence } = other;
        const largest = other.pack({ tick, workerId, clockBack: 1, sequence });
        const smallest = BigInt(mine.timeline.tickAt(NOW)) << BigInt(mine.lowBits);
        const allowed = smallest > largest;
        outcomes.set(allowed, (outcomes.get(allowed) ?? 0) + 1);
        if (!allowed) {
          expect(() => judgeLayouts(table, mine, 0)).toThrow(LayoutConflictError);
          return;
        }
        const end = judgeLayouts(table, mine, 0);
        const first = BigInt(end.tick + 1) << BigInt(mine.lowBits);
        expect(first).toBeGreaterThan(largest);
        // No more is given away than the tick that it touches.
        expect(BigInt(end.tick) << BigInt(mine.lowBits)).toBeLessThanOrEqual(largest);
      }),
      { seed: 11, numRuns: runs(2_000) },
    );
    expect(outcomes.get(true)).toBeGreaterThan(runs(100));
    expect(outcomes.get(false)).toBeGreaterThan(runs(100));
  });

  it('lets a whole fleet of the next one in, one process after the other', async () => {
    const database = new WorkerDatabase();
    const other = await otherOn(database);
    other.kill();
    await database.advance(120_000);
    const fleet: KeeperBench[] = [];
    for (const seed of [1, 2, 3]) {
      fleet.push(await KeeperBench.started({ database, seed }));
      for (const bench of fleet) bench.issue();
      await database.advance(10_000);
    }
    for (const bench of fleet) expect(shared(other, bench)).toEqual([]);
    expect(new Set(fleet.map(({ workerId }) => workerId)).size).toBe(3);
  });

  it('cannot come back after a cut-over to larger IDs', async () => {
    const small: Partial<LayoutOptions> = { timeUnit: 'second', timeStampLength: 33 };
    const database = new WorkerDatabase();
    const before = await KeeperBench.started({ database, layout: small });
    const first = before.issue();
    await before.keeper.close();
    await database.advance(2_000);
    const after = await KeeperBench.started({ database });
    expect(after.issue()).toBeGreaterThan(first);
    const running = await conflictOf(new KeeperBench({ database, layout: small }));
    expect(running.conflicts[0]!.workerIds).toEqual([after.workerId]);
    await after.keeper.close();
    for (const wait of [0, 60_000, 90 * 86_400_000]) {
      await database.advance(wait);
      const { conflicts } = await conflictOf(new KeeperBench({ database, layout: small }));
      expect(conflicts).toEqual([{ layout: after.resolved.layout.fingerprint, workerIds: [] }]);
    }
    await expect(KeeperBench.started({ database })).resolves.toBeInstanceOf(KeeperBench);
  });
});

describe('a fingerprint that no release can read', () => {
  it.each(['of a later release', '1@0:t41', '1000@54016:t33.w10.b1.s18.e1=2', '01@0:t41.w3.b1.s18'])(
    'is in the way on a row and in the list: %s',
    async (fingerprint) => {
      const onRow = await WorkerDatabase.withRows({ min: 1, max: 9 });
      onRow.change(9, { layout: fingerprint, code: 'another' });
      const inList = await WorkerDatabase.withRows({ min: 1, max: 9 });
      await new MemoryWorkerStore(inList.table, () => NOW).rememberLayout(fingerprint);
      for (const database of [onRow, inList]) {
        for (const layout of [{}, { endBitsLength: 1, endBitsValue: 1 }]) {
          const { conflicts, message } = await conflictOf(new KeeperBench({ database, layout }));
          expect(conflicts).toEqual([{ layout: fingerprint, workerIds: [] }]);
          expect(message).toContain(fingerprint);
        }
      }
    },
  );

  it('names the rows where it is alive', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 9 });
    database.change(8, { layout: '?', code: 'another', token: 'theirs', leaseUntilMs: NOW });
    expect((await conflictOf(new KeeperBench({ database }))).conflicts).toEqual([{ layout: '?', workerIds: [8] }]);
  });

  it('is reported together with the others, and only what is in the way', () => {
    const mine = new KeeperBench({ layout: { endBitsLength: 1, endBitsValue: 0 } }).resolved.layout;
    const disjoint = new KeeperBench({ layout: { endBitsLength: 1, endBitsValue: 1 } }).resolved.layout;
    const { fingerprint } = new KeeperBench({ layout: OTHER }).resolved.layout;
    const past: WorkerRow = {
      id: 9,
      version: 4,
      ownVersion: 4,
      token: '',
      holder: '',
      code: 'x',
      heartbeatMs: 0,
      lane: 0,
      leaseUntilMs: 0,
      layout: fingerprint,
      odometers: [
        { ms: NOW, sequence: 0 },
        { ms: 0, sequence: -1 },
      ],
    };
    const layouts = ['?', disjoint.fingerprint, mine.fingerprint];
    const table: WorkerTable = { nowMs: NOW, rows: [past], deleted: [], layouts };
    const { conflicts } = caught(LayoutConflictError, () => judgeLayouts(table, mine, 0));
    expect(conflicts.map(({ layout }) => layout)).toEqual([fingerprint, '?'].sort());
  });
});

describe('layouts on a table that may have lost their last grants up to a moment', () => {
  const { layout: ours } = new KeeperBench().resolved;
  /** Its IDs are those that we have a minute later. */
  const { layout: other } = new KeeperBench({ layout: { startTimeStamp: Date.parse('2024-01-01') - 60_000 } }).resolved;
  const [LOST_UNTIL, NEVER] = [NOW - 10_000, { ms: 0, sequence: -1 }];
  const granted = (ms: number, sequence = 5): WorkerRow['odometers'] => [{ ms, sequence }, NEVER];

  function judged(rows: readonly Partial<WorkerRow>[], table: Partial<WorkerTable> = {}): number | undefined {
    const whole = rows.map((row, index) => ({ ...unusedRow(index + 1), layout: ours.fingerprint, ...row }));
    const lost = { nowMs: NOW, deleted: [], layouts: [other.fingerprint], barredUntilMs: LOST_UNTIL };
    try {
      judgeLayouts({ ...lost, rows: whole, ...table }, ours, 0);
      return undefined;
    } catch (error) {
      return (error as LayoutConflictError).clearsAtMs! - NOW;
    }
  }

  it.each([
    { what: 'with a row of long ago', rows: [{ layout: other.fingerprint, odometers: granted(NOW - 90_000) }] },
    { what: 'with rows of ours only', rows: [{ odometers: granted(LOST_UNTIL), heartbeatMs: NOW }] },
    { what: 'without any row', rows: [] },
  ])('has issued up to then $what: it clears up when we are past that', ({ rows }) => {
    expect(judged(rows)).toBe(50_001);
    expect(judged(rows, { nowMs: NOW + 50_000 })).toBe(50_001);
    expect(judged(rows, { nowMs: NOW + 50_001 })).toBeUndefined();
  });

  it('has issued what its row says where that is more', () => {
    expect(judged([{ layout: other.fingerprint, odometers: granted(LOST_UNTIL + 5_000) }])).toBe(55_001);
  });

  it.each<{ what: string; row: Partial<WorkerRow>; table?: Partial<WorkerTable>; isBelieved: boolean }>([
    { what: 'a grant of ours past it', row: { odometers: granted(LOST_UNTIL + 1) }, isBelieved: true },
    { what: 'a grant of ours up to it', row: { odometers: granted(LOST_UNTIL), heartbeatMs: NOW }, isBelieved: false },
    {
      what: 'one on the lane that is not in use',
      isBelieved: false,
      row: { odometers: granted(LOST_UNTIL + 1), lane: 1 },
    },
    {
      what: 'one on the second lane',
      isBelieved: true,
      row: { odometers: [NEVER, { ms: LOST_UNTIL + 1, sequence: 0 }], lane: 1 },
    },
    { what: 'a fence', row: { odometers: granted(LOST_UNTIL + 1, Number.MAX_SAFE_INTEGER) }, isBelieved: false },
    {
      what: 'a grant by a clock that was ahead',
      isBelieved: false,
      row: { odometers: granted(NOW + 9e9), heartbeatMs: NOW + 9e8 },
    },
    {
      what: 'a grant to a third layout',
      isBelieved: false,
      row: { odometers: granted(LOST_UNTIL + 1), layout: '1@1704067200000:t41.w4.b1.s17' },
    },
  ])('has issued what its rows say after $what: $isBelieved', ({ row, isBelieved }) => {
    expect(judged([row]) === undefined).toBe(isBelieved);
    // Such a row may have been marked deleted since.
    const deleted = [{ ...unusedRow(1), layout: ours.fingerprint, ...row }];
    expect(judged([], { deleted }) === undefined).toBe(isBelieved);
  });
});
