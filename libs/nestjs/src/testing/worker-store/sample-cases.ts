import assert from 'node:assert/strict';
import type { WorkerSample } from '@raindrop/core';
import { HELD_TOO, wallClock } from '@raindrop/core/internal';
import { between, has, same } from './check.js';
import { COARSE_MS, LAYOUTS, storedOf, writeTo, type Cases } from './bench.js';

export const idsIn = ({ rows }: WorkerSample): number[] => rows.map(({ id }) => id);

/** `readSample` has a few free rows, and what has to be known of the others. */
export const sampleCases: Cases = {
  'begins with the number that is asked for, goes round, and has as many rows as may be': async (rows) => {
    const store = await rows.prepared(6);
    const before = wallClock.now();
    const sample = await rows.sample(store, { from: 4, atMost: 4 });
    between(sample.nowMs, before - COARSE_MS, wallClock.now() + COARSE_MS, 'nowMs');
    same(idsIn(sample), [4, 5, 6, 1], 'the rows');
    has(sample, { total: 6, live: 0, layouts: [], layoutsOfRows: [] }, 'the sample');
    same(sample.rows[3], await rows.of(store, 1), 'row 1');
    const inside = await rows.sample(store, { workers: { min: 2, max: 3 }, from: 3 });
    same(idsIn(inside), [3, 2], 'the rows of a range');
  },
  'has rows that can be written as they were sampled': async (rows) => {
    const store = await rows.prepared();
    const sample = await rows.sample(store);
    assert.equal(sample.rows.length, 3);
    for (const row of sample.rows) assert.equal(await store.write(writeTo(row)), true);
    for (const row of sample.rows) assert.equal(await store.write(writeTo(row)), false);
  },
  'puts what was given back before what has expired, and of that the oldest first': async (rows) => {
    const store = await rows.prepared(5);
    await rows.take(store, 1, { leaseMs: -5_000 });
    await rows.take(store, 2, { leaseMs: -9_000 });
    await rows.take(store, 3, { leaseMs: -900 });
    await rows.take(store, 4);
    await rows.take(store, 4, { token: '', leaseMs: 0 });
    same(idsIn(await rows.sample(store, { from: 5 })), [5, 4, 2, 1, 3], 'the rows');
    const withGrace = await rows.sample(store, { graceMs: 4_000 });
    same(idsIn(withGrace), [4, 5, 2, 1], 'the rows with grace');
    has(withGrace, { total: 5, live: 1 }, 'the sample with grace');
  },
  'leaves out rows that are held, or outside the range': async (rows) => {
    const store = await rows.prepared(6);
    for (const id of [1, 2, 6]) await rows.take(store, id);
    await rows.take(store, 2, { token: '', leaseMs: 0 });
    const sample = await rows.sample(store, { workers: { min: 1, max: 4 } });
    same(idsIn(sample).sort(), [2, 3, 4], 'the rows');
    has(sample, { total: 4, live: 1, foreign: 0 }, 'the sample');
  },
  'comes with the layouts of all rows, those outside too, and with those noted': async (rows) => {
    const store = await rows.prepared(4);
    const { layout } = await rows.take(store, 2);
    await rows.take(store, 3, { layout: LAYOUTS[0], token: '', leaseMs: 0 });
    await rows.take(store, 4);
    await store.rememberLayout(LAYOUTS[1]);
    const seen = await rows.sample(store, { workers: { min: 1, max: 1 }, atMost: 1 });
    same(seen.layouts, [LAYOUTS[1]], 'the layouts');
    same([...seen.layoutsOfRows].sort(), [layout, LAYOUTS[0]].sort(), 'the layouts of the rows');
  },
  'has a row that is held when it is asked for': async (rows) => {
    const store = await rows.prepared();
    const row = await rows.take(store, 2);
    const request = { workers: { min: 2, max: 2 }, from: 2, atMost: 1, graceMs: HELD_TOO };
    const sample = await rows.sample(store, request);
    same(sample.rows.map(storedOf), [storedOf(row)], 'the rows');
    has(sample, { layouts: [], layoutsOfRows: [row.layout] }, 'the sample');
    const none = { workers: { min: 9, max: 9 }, from: 9, atMost: 1, graceMs: HELD_TOO };
    same(idsIn(await rows.sample(store, none)), [], 'the rows of a range without any');
  },
};
