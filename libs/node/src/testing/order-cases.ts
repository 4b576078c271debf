import type { SampleRequest, WorkerWrite } from '@raindrop/core';
import { INCLUDE_HELD } from '@raindrop/core/internal';
import { type Cases, same } from './bench.js';

/** How a row came to be as it is; a number: its lease ended so many ms ago, and no process gave it back. */
type Row = 'unused' | 'given back' | 'held' | number;

const EXPIRED_3 = 3_000;
const EXPIRED_5 = 5_000;
const EXPIRED_9 = 9_000;

interface OrderCase {
  /** Those of worker 1, 2 and so on. */
  readonly table: readonly Row[];
  readonly request: Partial<SampleRequest>;
  /** The worker ids of the sample. */
  readonly ids: readonly number[];
}

/** The rule is at `WorkerSample.rows`: in SQL, in Lua and in memory these have one answer. */
const ORDER_CASES: Readonly<Record<string, OrderCase>> = {
  'begins with the number that is asked for, goes round, and has as many rows as may be': {
    table: ['unused', 'unused', 'unused', 'unused', 'unused', 'unused'],
    request: { from: 4, atMost: 4 },
    ids: [4, 5, 6, 1],
  },
  'goes round inside its range': {
    table: ['unused', 'unused', 'unused', 'unused'],
    request: { workers: { min: 2, max: 3 }, from: 3 },
    ids: [3, 2],
  },
  'begins with the lowest number where all are below the one that is asked for': {
    table: ['unused', 'unused', 'unused'],
    request: { from: 9 },
    ids: [1, 2, 3],
  },
  'takes what was given back and what was never used for equal': {
    table: ['given back', 'unused', 'given back', 'unused'],
    request: { from: 2 },
    ids: [2, 3, 4, 1],
  },
  'puts what was given back before what has expired, and of that the oldest first': {
    table: [EXPIRED_5, EXPIRED_9, EXPIRED_3, 'given back', 'unused'],
    request: { from: 5 },
    ids: [5, 4, 2, 1, 3],
  },
  'goes by the number that is asked for only among equals': {
    table: [EXPIRED_9, EXPIRED_5, 'unused', 'unused'],
    request: { from: 2 },
    ids: [3, 4, 1, 2],
  },
  'has the first of that order where it may not have all': {
    table: [EXPIRED_5, EXPIRED_9, 'held', 'unused'],
    request: { atMost: 2 },
    ids: [4, 2],
  },
  'leaves out rows that are held, or outside the range': {
    table: ['held', 'given back', 'unused', 'unused', 'unused', 'held'],
    request: { workers: { min: 1, max: 4 } },
    ids: [2, 3, 4],
  },
  'leaves out rows that expired within the grace': {
    table: [EXPIRED_5, EXPIRED_9, EXPIRED_3, 'given back'],
    request: { graceMs: 4_000 },
    ids: [4, 2, 1],
  },
  'has held rows last where they are asked for, too': {
    table: ['held', EXPIRED_5, 'unused'],
    request: { graceMs: INCLUDE_HELD },
    ids: [3, 2, 1],
  },
};

const WRITES: Readonly<Record<Exclude<Row, number | 'unused'>, readonly Partial<WorkerWrite>[]>> = {
  'given back': [{}, { token: '', leaseMs: 0 }],
  held: [{}],
};

/** In which order a start takes the free rows. */
export const orderCases: Cases = Object.fromEntries(
  Object.entries(ORDER_CASES).map(([name, { table, request, ids }]) => [
    name,
    async (rows) => {
      const store = await rows.prepared(table.length);
      for (const [index, row] of table.entries()) {
        if (row === 'unused') continue;
        const writes = typeof row === 'number' ? [{ leaseMs: -row }] : WRITES[row];
        for (const write of writes) await rows.take(store, index + 1, write);
      }
      const sample = await rows.sample(store, request);
      same(
        sample.rows.map(({ id }) => id),
        ids,
        'the rows of the sample',
      );
    },
  ]),
);
