import assert from 'node:assert/strict';
import { HELD_TOO } from '@raindrop/core/internal';
import { has, same } from './check.js';
import { idsIn } from './sample-cases.js';
import { byId, LAYOUTS, storedOf, turn, writeTo, type Cases } from './bench.js';

/** Connections come and go. */
export const endCases: Cases = {
  'says in words what can lose an acknowledged commit': async (rows) => {
    const store = await rows.prepared();
    for (const warning of await store.durabilityWarnings()) assert.match(warning, /\w+ \w+/);
  },
  'keeps everything when the connection is closed and another one opened': async (rows) => {
    const store = await rows.prepared();
    await rows.take(store, 1);
    await store.rememberLayout(LAYOUTS[0]);
    const { rows: all, layouts } = await store.readTable();
    await store.close();
    await store.close();
    const anew = await rows.open().readTable();
    same(byId(anew.rows).map(storedOf), byId(all).map(storedOf), 'the rows');
    same(anew.layouts, layouts, 'the layouts');
  },
  'answers the next call after a call was abandoned, at any moment': async (rows) => {
    await rows.prepared();
    for (const turns of [0, 1, 2, 5, 20]) {
      const store = rows.open();
      const calls = Promise.allSettled([store.readTable(), store.readRow(1)]);
      for (let count = 0; count < turns; count++) await turn();
      store.abandon();
      store.abandon();
      await calls;
      same(await rows.ids(store), [1, 2, 3], 'the rows');
    }
  },
  'may be abandoned and closed without ever having been used': async (rows) => {
    const store = rows.open();
    store.abandon();
    await store.close();
  },
};

/** Programs that are not Raindrop write rows: for `foreignWriters`. */
export const foreignCases: Cases = {
  'shows that another program wrote the row': async (rows) => {
    const store = await rows.prepared();
    const before = await rows.take(store, 1);
    await rows.foreignWrite(1);
    const after = await rows.of(store, 1);
    has(after, { version: before.version + 1, ownVersion: before.version, token: before.token }, 'the row');
    assert.equal(await store.write(writeTo(before)), false);
    const mine = await rows.take(store, 1, { token: 'mine' });
    has(mine, { version: after.version + 1, ownVersion: after.version + 1 }, 'the row afterwards');
  },
  'counts and leaves out, in a sample, rows that another program wrote last': async (rows) => {
    const store = await rows.prepared(4);
    for (const id of [1, 4]) await rows.take(store, id);
    await rows.take(store, 1, { token: '', leaseMs: 0 });
    await rows.foreignWrite(1);
    same(idsIn(await rows.sample(store, { workers: { min: 1, max: 3 } })), [2, 3], 'the rows');
    // Of the whole table: another program takes any row.
    await rows.foreignWrite(4);
    has(await rows.sample(store, { workers: { min: 2, max: 3 } }), { foreign: 2, total: 2, live: 0 }, 'the sample');
  },
  'keeps, in a fence, the difference that another program has made': async (rows) => {
    const store = await rows.prepared();
    await rows.take(store, 3);
    await rows.foreignWrite(3);
    const before = await rows.of(store, 3);
    await store.fence(1_000);
    const { version, ownVersion, token } = await rows.of(store, 3);
    same([version - ownVersion, token], [before.version - before.ownVersion, ''], 'the row');
  },
};

/** Rows can be marked deleted: for `deletedRows`. */
export const deletedCases: Cases = {
  'has a clock also when all rows are deleted': async (rows) => {
    const store = rows.open();
    await store.prepare({ min: 5, max: 5 });
    await rows.markDeleted(5);
    const { rows: all, deleted } = await store.readTable();
    same([all.length, deleted.length], [0, 1], 'the rows');
    const { row, nowMs } = await store.readRow(5);
    same([row, typeof nowMs], [undefined, 'number'], 'the row');
    has(await rows.sample(store), { rows: [], total: 0, live: 0, foreign: 0 }, 'the sample');
  },
  'does not write rows that are deleted': async (rows) => {
    const store = await rows.prepared();
    const row = await rows.of(store, 3);
    await rows.markDeleted(3);
    assert.equal(await store.write(writeTo(row)), false);
    same(await rows.ids(store), [1, 2], 'the rows');
  },
  'leaves out a row marked deleted, remembers what was granted there, and never makes it anew': async (rows) => {
    const store = await rows.prepared();
    const odometers = [
      { ms: 5_000, sequence: 1 },
      { ms: 6_000, sequence: 2 },
    ] as const;
    const written = await rows.take(store, 2, { odometers });
    await rows.markDeleted(2);
    await store.prepare({ min: 1, max: 3 });
    same(await rows.ids(store), [1, 3], 'the rows');
    const { nowMs, deleted } = await store.readTable();
    same(deleted.map(storedOf), [storedOf(written)], 'the deleted rows');
    assert.equal(await store.fence(1_000), 3);
    const fenced = (await store.readTable()).deleted[0]!.odometers[0].ms;
    assert.ok(fenced >= nowMs + 1_000, 'a deleted row was left out by the fence');
  },
  'has, in a sample, no deleted row but its layout': async (rows) => {
    const store = await rows.prepared(3);
    await rows.take(store, 3, { layout: LAYOUTS[0], token: '', leaseMs: 0 });
    const { layout } = await rows.take(store, 2);
    for (const id of [2, 3]) await rows.markDeleted(id);
    const request = { workers: { min: 2, max: 2 }, from: 2, atMost: 1, graceMs: HELD_TOO };
    const sample = await rows.sample(store, request);
    has(sample, { rows: [], total: 0, live: 0, layouts: [] }, 'the sample');
    same([...sample.layoutsOfRows].sort(), [layout, LAYOUTS[0]].sort(), 'the layouts of the rows');
  },
};
