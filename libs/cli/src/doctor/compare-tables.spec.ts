import { createLayout, type Layout, type LayoutOptions, presets, type WorkerRow } from '@raindrop/core';
import { compareTables, type TableRead } from './compare-tables.js';

const now = Date.parse('2026-11-21');
const BITS = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 } as const;

const layoutOf = (options: Partial<LayoutOptions> = {}): Layout => createLayout({ ...BITS, ...options }, now);
const usual = layoutOf();

const rowOf = (id: number, layout = '', heartbeatMs = 0, token = ''): WorkerRow => ({
  id,
  version: 1,
  ownVersion: 1,
  token,
  holder: '',
  layout,
  leaseUntilMs: token === '' ? 0 : now + 1,
  lane: 0,
  odometers: [
    { ms: 0, sequence: -1 },
    { ms: 0, sequence: -1 },
  ],
  code: layout === '' ? '' : 'code',
  heartbeatMs,
});

const range = (min: number, max: number): WorkerRow[] =>
  Array.from({ length: max - min + 1 }, (_, index) => rowOf(min + index));

function tableOf(rows: WorkerRow[], layouts: readonly Layout[], changes: Partial<TableRead> = {}): TableRead {
  const table = { nowMs: now, rows, deleted: [], layouts: layouts.map(({ fingerprint }) => fingerprint) };
  return { name: 'orders', whereabouts: undefined, table, first: usual, graceMs: 60_000, ...changes };
}

const compared = (one: TableRead, other: TableRead): { state: string; detail: string } => {
  const [found] = compareTables([one, { ...other, name: 'billing' }]);
  return found!;
};

const verdict = (one: TableRead, other: TableRead): string => compared(one, other).state;

describe('Two worker tables', () => {
  it.each([
    { what: 'one range, unused', mine: [usual], theirs: [usual], first: 1, state: 'fail' },
    { what: 'ranges apart', mine: [usual], theirs: [usual], first: 9, state: 'ok' },
    { what: 'ranges that meet in one', mine: [usual], theirs: [usual], first: 8, state: 'fail' },
    { what: 'other end bits', mine: [usual], theirs: [layoutOf({ endBitsValue: 1 })], first: 1, state: 'ok' },
    {
      what: 'another epoch',
      mine: [usual],
      theirs: [layoutOf({ startTimeStamp: '2026-06-01' })],
      first: 1,
      state: 'fail',
    },
    {
      what: 'another epoch, ranges apart',
      mine: [usual],
      state: 'ok',
      first: 9,
      theirs: [layoutOf({ startTimeStamp: '2026-06-01' })],
    },
    // The upper 8 of the 10 bits are those of worker 1 for workers 4-7.
    { what: 'fewer worker bits', mine: [usual], theirs: [layoutOf({ workIdLength: 8 })], first: 1, state: 'fail' },
    { what: 'bits of another system', mine: [usual], theirs: [presets.twitter()], first: 1, state: 'fail' },
    { what: 'nothing served, so the default', mine: [], theirs: [usual], first: 1, state: 'fail' },
  ])('$what: $state', ({ mine, theirs, first, state }) => {
    expect(verdict(tableOf(range(1, 8), mine), tableOf(range(first, first + 7), theirs))).toBe(state);
  });

  it('are named with the worker ids and the layout that both have', () => {
    const both = 'both have workers 3-8 of the layout 1000@1767225600:t33.w10.b1.s18.e1=0';
    expect(compared(tableOf(range(1, 8), [usual]), tableOf(range(3, 20), [usual])).detail).toBe(
      `orders and billing can give the same ID: ${both}`,
    );
  });

  it('at one place are one table', () => {
    const there = tableOf(range(1, 8), [usual], { whereabouts: 'server 1' });
    expect(compared(there, there)).toMatchObject({
      state: 'ok',
      detail: expect.stringContaining('one table') as string,
    });
    expect(verdict(there, { ...there, whereabouts: 'server 2' })).toBe('fail');
  });

  it('warn of equal IDs in the past alone, where the present layouts differ in the end bits', () => {
    const next = layoutOf({ endBitsValue: 1 });
    const orders = tableOf([rowOf(1, usual.fingerprint, now), ...range(2, 8)], [usual]);
    const wasUsual = rowOf(1, usual.fingerprint, now - 2);
    const billing = tableOf([wasUsual, rowOf(2, next.fingerprint, now - 1)], [usual, next]);
    expect(verdict(orders, billing)).toBe('warn');
    // A process that still holds a row with the old layout issues with it.
    const held = rowOf(1, usual.fingerprint, now - 2, 'token');
    expect(verdict(orders, tableOf([held, rowOf(2, next.fingerprint, now - 1)], [usual, next]))).toBe('fail');
    // Only used rows have given any.
    expect(verdict(orders, tableOf([rowOf(2, next.fingerprint, now - 1), ...range(3, 8)], [usual, next]))).toBe('ok');
  });

  it('fail where a layout cannot be read', () => {
    const unknown = tableOf([rowOf(1, 'v9:unknown', now)], []);
    expect(compared(unknown, tableOf(range(9, 10), [usual]))).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining('v9:unknown') as string,
    });
  });

  it('are compared each with each', () => {
    const tables = [1, 9, 17, 9].map((first, index) =>
      tableOf(range(first, first + 7), [usual], { name: `t${index}` }),
    );
    expect(compareTables(tables).map(({ detail }) => detail.slice(0, 9))).toEqual(['t1 and t3']);
    expect(compareTables(tables.slice(0, 3))).toMatchObject([
      { state: 'ok', detail: 'no ID is given twice by t0, t1 and t2' },
    ]);
  });
});
