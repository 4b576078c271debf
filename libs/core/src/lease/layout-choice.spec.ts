import { createLayout, type LayoutOptions } from '../layout/layout-options.js';
import type { Layout } from '../layout/layout.js';
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
    ...{ id, token: '', holder: '', layout: '', leaseUntilMs: 0, lane: 0, odometers: [never, never] },
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
      ...{ what: 'the one of a deleted row', layout: OLD, isFirst: true },
      table: { ...tableOf([]), deleted: [usedRow(1, OLD, NOW)] },
    },
    {
      ...{ what: 'the one that has left the other behind for good', layout: LATER, isFirst: false },
      table: tableOf([usedRow(1, OLD, NOW - YEAR_MS / 2), usedRow(2, LATER, NOW - 1_000)], [OLD, LATER]),
    },
    {
      ...{ what: 'the same while it is held', layout: LATER, isFirst: false },
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

  it('is refused on the same table when nobody holds a row any more', () => {
    const wider = layoutWith({ workIdLength: 9 });
    const rows = (more: Partial<WorkerRow>): WorkerRow[] => [
      usedRow(1, OLD, NOW - YEAR_MS),
      usedRow(2, wider, NOW - 5_000, more),
    ];
    for (const more of [held, {}]) expect(refusalOf(tableOf(rows(more), [OLD, wider])).layouts).toHaveLength(2);
  });

  it.each([
    { what: 'a layout that is not understood', table: { ...tableOf([]), layouts: ['?'] }, says: 'not understood' },
    {
      what: 'a memory that may lack some',
      table: { ...tableOf([]), mayLackLayouts: true },
      says: 'may have forgotten',
    },
    {
      ...{ what: 'rows of another program that were marked deleted', says: 'another program' },
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
