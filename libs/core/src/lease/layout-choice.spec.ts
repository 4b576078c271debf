import { createLayout, type LayoutOptions } from '../layout/layout-options.js';
import type { Layout } from '../layout/layout.js';
import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { chooseLayout, onlyLayout, UnclearLayoutError } from './layout-choice.js';
import type { WorkerRow, WorkerTable } from './worker-store.js';

const NOW = Date.parse('2026-11-21T20:00:00Z');

const YEAR_MS = 365 * 86_400_000;

const OPTIONS = { graceMs: 60_000, adoptForeign: false };

function layoutWith(options: Partial<LayoutOptions>): Layout {
  const rest = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
  return createLayout({ ...rest, ...options }, NOW);
}

const FIRST = layoutWith({ startTimeStamp: '2026-02-02' });

const OLD = layoutWith({});

/** All its IDs are larger: the old one was left behind. */
const LATER = layoutWith({ startTimeStamp: '2016-01-01' });

const DISJOINT = layoutWith({ endBitsValue: 1 });

function rowOf(id: number, changes: Partial<WorkerRow> = {}): WorkerRow {
  const never = { ms: 0, sequence: -1 };
  const ours = { code: 'us', version: 2, ownVersion: 2, heartbeatMs: NOW - YEAR_MS / 2 };
  return {
    id,
    token: '',
    holder: '',
    layout: '',
    leaseUntilMs: 0,
    lane: 0,
    odometers: [never, never],
    ...ours,
    ...(changes.layout === undefined && { code: '', heartbeatMs: 0 }),
    ...changes,
  };
}

function usedRow(id: number, { fingerprint }: Layout, ms: number, changes: Partial<WorkerRow> = {}): WorkerRow {
  const odometer = { ms, sequence: 5 };
  return rowOf(id, { layout: fingerprint, odometers: [odometer, odometer], ...changes });
}

function tableOf(rows: readonly WorkerRow[], layouts: readonly Layout[] = []): WorkerTable {
  return { nowMs: NOW, rows, deleted: [], layouts: layouts.map(({ fingerprint }) => fingerprint) };
}

const held = { token: 't', leaseUntilMs: NOW + 1 };

describe('A layout that the options do not name', () => {
  it.each([
    { what: 'the first, on an empty table', table: tableOf([]), layout: FIRST, isFirst: true },
    { what: 'the first, where no row was used', table: tableOf([rowOf(1), rowOf(2)]), layout: FIRST, isFirst: true },
    { what: 'the one that is noted', table: tableOf([rowOf(1)], [OLD]), layout: OLD, isFirst: false },
    { what: 'the one of a row', table: tableOf([usedRow(1, OLD, NOW)]), layout: OLD, isFirst: true },
    {
      what: 'the one of a deleted row',
      layout: OLD,
      isFirst: true,
      table: { ...tableOf([]), deleted: [usedRow(1, OLD, NOW)] },
    },
    {
      what: 'the one that has left the other behind for good',
      layout: LATER,
      isFirst: false,
      table: tableOf([usedRow(1, OLD, NOW - YEAR_MS / 2), usedRow(2, LATER, NOW - 1_000)], [OLD, LATER]),
    },
    {
      what: 'the same while it is held',
      layout: LATER,
      isFirst: false,
      table: tableOf([usedRow(1, OLD, NOW - YEAR_MS / 2), usedRow(2, LATER, NOW, held)], [OLD, LATER]),
    },
  ])('is $what', ({ table, layout, isFirst }) => {
    const choice = chooseLayout(table, FIRST, OPTIONS);
    expect({ ...choice, layout: choice.layout.fingerprint }).toEqual({ layout: layout.fingerprint, isFirst });
  });

  function refusalOf(table: WorkerTable, options = OPTIONS): UnclearLayoutError {
    try {
      chooseLayout(table, FIRST, options);
    } catch (error) {
      return error as UnclearLayoutError;
    }
    throw new Error('nothing was refused');
  }

  it('is refused where two may still be in use, each with its bits, epoch, end value and last use', () => {
    const rows = [usedRow(1, OLD, NOW - YEAR_MS), usedRow(2, DISJOINT, NOW, held)];
    const error = refusalOf(tableOf(rows, [OLD, DISJOINT]));
    expect(error.layouts).toEqual([
      {
        fingerprint: OLD.fingerprint,
        description:
          'ticks of 1000 ms from 2026-01-01T00:00:00.000Z, bits 33 timestamp, 10 worker, 1 clockBack, 18 sequence, 1 end, ' +
          'end value 0',
        workerIds: [],
        lastUsed: new Date(NOW - YEAR_MS / 2),
      },
      expect.objectContaining({ fingerprint: DISJOINT.fingerprint, workerIds: [2] }),
    ]);
    expect(error.message).toContain('2 layouts that may still be in use');
  });

  it('is refused on the same table when no process holds a row any more', () => {
    const wider = layoutWith({ workIdLength: 9 });
    const rows = (more: Partial<WorkerRow>): WorkerRow[] => [
      usedRow(1, OLD, NOW - YEAR_MS),
      usedRow(2, wider, NOW - 5_000, more),
    ];
    for (const more of [held, {}]) expect(refusalOf(tableOf(rows(more), [OLD, wider])).layouts).toHaveLength(2);
  });

  it.each([
    {
      what: 'a layout that is not understood',
      table: { ...tableOf([]), layouts: ['?'] },
      says: 'this release cannot read',
    },
    {
      what: 'a memory that may lack some',
      table: { ...tableOf([]), barredUntilMs: 1 },
      says: 'may have forgotten',
    },
    {
      what: 'rows of another program that were marked deleted',
      says: 'another program',
      table: { ...tableOf([]), deleted: [rowOf(1, { code: 'go', version: 9 })] },
    },
  ])('is refused with $what', ({ table, says }) => {
    expect(refusalOf(table).message).toContain(says);
  });

  it('is refused where another program is at work, with its own error, or its own consent', () => {
    const table = tableOf([rowOf(7, { code: 'go', version: 9 })]);
    expect(refusalOf(table)).toMatchObject({ errorCode: 'FOREIGN_ROWS', workerIds: [7] });
    expect(refusalOf(table, { ...OPTIONS, adoptForeign: true })).toMatchObject({ errorCode: 'UNCLEAR_LAYOUT' });
    // It may begin at any moment.
    expect(refusalOf(tableOf([]), { ...OPTIONS, adoptForeign: true })).toMatchObject({ errorCode: 'UNCLEAR_LAYOUT' });
  });

  it('is known without any row where one alone is remembered', () => {
    const known = { layouts: [OLD.fingerprint], layoutsOfRows: [OLD.fingerprint] };
    expect(onlyLayout(known)?.layout.fingerprint).toBe(OLD.fingerprint);
    expect(onlyLayout({ ...known, layouts: [] })?.isFirst).toBe(true);
    expect(onlyLayout({ ...known, layoutsOfRows: ['?'] })).toBeUndefined();
    expect(onlyLayout({ layouts: [], layoutsOfRows: [] })).toBeUndefined();
  });
});

/** Two layouts with ticks at the same places in the ID: their IDs differ only where they are of different ticks. */
const FORMER: KeeperBenchOptions = { layout: { workIdLength: 4, serviceMaxWorkId: 1 } };

const NEW: KeeperBenchOptions = { layout: { workIdLength: 3, serviceMaxWorkId: 3 } };

/** The clock of a host that is behind, as far as a start allows. */
const behind = (database: WorkerDatabase): number => database.time.wall - 25_000;

describe('a change of layout on hosts whose clocks are behind', () => {
  it('starts after the last ID of the old one, on either lane, in the first process and in the next', async () => {
    const database = new WorkerDatabase();
    const old = await KeeperBench.started({ ...FORMER, database });
    const last = old.issue();
    const lastMs = database.time.wall;
    await old.keeper.close();
    await database.advance(2);

    const fleet: KeeperBench[] = [];
    for (let seed = 1; seed <= 3; seed++) {
      const next = await KeeperBench.started({ ...NEW, database, seed, wall: behind(database) }).catch(() => undefined);
      if (next !== undefined) fleet.push(next);
    }
    // Every lane of every row is past the present of such a host.
    expect(fleet).toEqual([]);

    await database.advance(25_001);
    for (let seed = 1; seed <= 3; seed++) {
      const next = await KeeperBench.started({ ...NEW, database, seed, wall: behind(database) });
      fleet.push(next);
      const { odometers } = database.row(next.workerId!);
      expect(Math.min(odometers[0].ms, odometers[1].ms)).toBeGreaterThanOrEqual(lastMs);
      expect(next.issue()).toBeGreaterThan(last);
      await database.advance(10);
    }
    for (const each of fleet) {
      each.time.step(-20_000);
      for (let passed = 0; passed < 5_000; passed += 100) {
        await database.advance(100);
        each.refusal();
      }
      expect(each.issued.every((id) => id > last)).toBe(true);
    }
  });

  it('respects the old one that comes and goes between the two looks', async () => {
    const database = new WorkerDatabase();
    const next = new KeeperBench({ ...NEW, database, wall: behind(database), lease: { waitForWorkerMs: 60_000 } });
    next.store.next('write', { kind: 'slow', thereMs: 500, backMs: 0 });
    const starting = next.keeper.start();
    await database.advance(100);
    const old = await KeeperBench.started({
      ...FORMER,
      database,
      layout: { ...FORMER.layout, serviceMinWorkId: 8, serviceMaxWorkId: 8 },
    });
    const last = old.issue();
    await old.keeper.close();
    await database.advance(1_000);
    await starting;
    for (let passed = 0; passed < 40_000; passed += 100) {
      next.refusal();
      await database.advance(100);
    }
    expect(next.issued.length).toBeGreaterThan(50);
    expect(next.issued.every((id) => id > last)).toBe(true);
  });
});

describe('a row that goes back because the start failed', () => {
  it('stays unclean: the next holder of an hour row leaves that hour alone', async () => {
    const database = new WorkerDatabase();
    const options: KeeperBenchOptions = {
      database,
      layout: { timeUnit: 'hour', timeStampLength: 45, serviceMaxWorkId: 1 },
      lease: { commitLossWindowMs: 1_000 },
    };
    const starting = (bench: KeeperBench): Promise<unknown> =>
      Promise.all([bench.keeper.start().catch(() => undefined), database.advance(2_000)]);
    const gone = new KeeperBench(options);
    await starting(gone);
    gone.issue();
    gone.kill();
    await database.advance(60_000 + 151_001);
    const failing = new KeeperBench(options);
    failing.store.next('readAgain', { kind: 'refused' });
    const failed = starting(failing);
    await database.advance(50);
    failing.kill();
    await Promise.race([failed, database.advance(2_000)]);
    expect(database.row(1).token).toBe('');
    await expect(new KeeperBench(options).keeper.start()).rejects.toMatchObject({ census: { ahead: 1 } });
    await database.advance(3_600_000);
    const next = new KeeperBench(options);
    await starting(next);
    expect(next.next()).toMatch(/:0:0$/);
  });
});
