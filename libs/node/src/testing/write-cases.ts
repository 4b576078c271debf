import assert from 'node:assert/strict';
import { unusedRow, type WorkerRow, type WorkerSample } from '@raindrop/core';
import { INCLUDE_HELD, wallClock } from '@raindrop/core/internal';
import {
  between,
  byId,
  type Cases,
  COARSE_MS,
  has,
  LARGEST,
  LAYOUTS,
  type Rows,
  same,
  storedOf,
  turn,
  upTo,
  writeTo,
  fenceFor,
} from './bench.js';

const DAY_MS = 86_400_000;

const notAsExpected = {
  'another version': ({ version, token }: WorkerRow) => ({ version: version + 1, token }),
  'another token': ({ version, token }: WorkerRow) => ({ version, token: `${token}x` }),
  'the token in capitals': ({ version, token }: WorkerRow) => ({ version, token: token.toUpperCase() }),
  'no token': ({ version }: WorkerRow) => ({ version, token: '' }),
};

/** `prepare` makes rows and nothing else. */
export const prepareCases: Cases = {
  'creates the rows of the range, unused': async (rows) => {
    const store = rows.open();
    await store.prepare({ min: 1, max: 3 });
    same(await rows.ids(store), [1, 2, 3], 'the rows');
    const row = await rows.of(store, 2);
    const { version, heartbeatMs } = row;
    same(row, { ...unusedRow(2), version, ownVersion: version, heartbeatMs }, 'an unused row');
    assert.ok(wallClock.now() - heartbeatMs > DAY_MS, 'an unused row has a heartbeat');
  },
  'has a clock also when there is no row': async (rows) => {
    const store = rows.open();
    await store.prepare({ min: 1, max: 0 });
    const before = wallClock.now();
    const { nowMs, rows: all, layouts } = await store.readTable();
    same({ all, layouts }, { all: [], layouts: [] }, 'the table');
    between(nowMs, before - COARSE_MS, wallClock.now() + COARSE_MS, 'nowMs');
    const one = await store.readRow(6);
    between(one.nowMs, before - COARSE_MS, wallClock.now() + COARSE_MS, 'nowMs of readRow');
    assert.equal(one.row, undefined);
    const { nowMs: sampledMs, ...rest } = await rows.sample(store);
    between(sampledMs, before - COARSE_MS, wallClock.now() + COARSE_MS, 'nowMs of readSample');
    same(rest, { rows: [], total: 0, live: 0, foreign: 0, layouts: [], layoutsOfRows: [] }, 'the sample');
  },
  'may be prepared twice: what was written stays': async (rows) => {
    const store = await rows.prepared();
    const written = await rows.take(store, 2);
    await store.prepare({ min: 1, max: 3 });
    await rows.open().prepare({ min: 1, max: 3 });
    same(await rows.ids(store), [1, 2, 3], 'the rows');
    same(storedOf(await rows.of(store, 2)), storedOf(written), 'row 2');
  },
  'shows a sample without prepare only where prepare would change nothing, and then what readSample shows': async (
    rows,
  ) => {
    const workers = { min: 1, max: 3 };
    const request = { workers, from: 1, atMost: 9, graceMs: 0 };
    assert.equal(await rows.open().readPrepared?.(workers, request), undefined, 'there is no row yet');
    const store = await rows.prepared();
    await rows.take(store, 2);
    const other = rows.open();
    assert.equal(await other.readPrepared?.({ min: 1, max: 4 }, request), undefined, 'row 4 is missing');
    const found = await other.readPrepared?.(workers, request);
    if (found === undefined) return;
    same({ ...found, nowMs: 0 }, { ...(await store.readSample(request)), nowMs: 0 }, 'the sample');
  },
  'adds what a wider range lacks, and leaves alone what a narrower one does not name': async (rows) => {
    const store = await rows.prepared(2);
    const written = await rows.take(store, 1);
    await store.prepare({ min: 0, max: 4 });
    same(await rows.ids(store), [0, 1, 2, 3, 4], 'the rows of the wider range');
    same(storedOf(await rows.of(store, 1)), storedOf(written), 'row 1');
    await store.prepare({ min: 2, max: 3 });
    same(await rows.ids(store), [0, 1, 2, 3, 4], 'the rows after the narrower one');
  },
  'creates all rows of the largest range': async (rows) => {
    const store = await rows.prepared(1_023);
    same(await rows.ids(store), upTo(1_023), 'the rows');
  },
  'may be prepared by eight at once on an empty database': async (rows) => {
    const stores = Array.from({ length: 8 }, () => rows.open());
    await Promise.all(stores.map((store, index) => store.prepare({ min: 1, max: 40 + index })));
    for (const store of stores) same(await rows.ids(store), upTo(47), 'the rows');
  },
};

/** `write` compares, and swaps. */
export const writeCases: Cases = {
  'writes a row that is as expected, and reads back what was written': writesAndReadsBack,
  ...Object.fromEntries(
    Object.entries(notAsExpected).map(([what, expectation]) => [
      `does not write a row that is expected with ${what}`,
      async (rows: Rows) => {
        const store = await rows.prepared();
        const before = await rows.take(store, 1, { token: 'abc' });
        const write = writeTo(before, { expected: expectation(before), token: 'thief' });
        assert.equal(await store.write(write), false);
        same(storedOf(await rows.of(store, 1)), storedOf(before), 'row 1');
      },
    ]),
  ),
  'does not write a row that is missing': async (rows) => {
    const store = await rows.prepared();
    assert.equal(await store.write(writeTo({ ...(await rows.of(store, 3)), id: 99 })), false);
    same(await rows.ids(store), [1, 2, 3], 'the rows');
  },
  'keeps every digit up to 2^53 - 1': async (rows) => {
    const store = await rows.prepared();
    const odometers = [
      { ms: LARGEST, sequence: LARGEST - 1 },
      { ms: LARGEST - 2, sequence: LARGEST },
    ] as const;
    same((await rows.take(store, 1, { odometers })).odometers, odometers, 'the odometers');
    const { rows: all } = await rows.open().readTable();
    same(byId(all)[0]?.odometers, odometers, 'the odometers of the table');
  },
  'gives a row back with an empty token and a lease that ends now': async (rows) => {
    const store = await rows.prepared();
    await rows.take(store, 1);
    await rows.take(store, 1, { token: '', leaseMs: 0 });
    const { nowMs, row } = await store.readRow(1);
    has(row, { token: '', code: '10.0.0.1#8080#1#aa-bb' }, 'the row');
    assert.ok(row!.leaseUntilMs <= nowMs, 'the lease has not ended');
  },
  'lets exactly one of 64 writers win': async (rows) => {
    await rows.prepared();
    const stores = Array.from({ length: 16 }, () => rows.open());
    const seen = await Promise.all(stores.map((store) => rows.of(store, 1)));
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        const write = writeTo(seen[index % 16]!, { token: `writer-${index}` });
        return (await stores[index % 16]!.write(write)) ? write.token : undefined;
      }),
    );
    const winners = outcomes.filter((token) => token !== undefined);
    assert.equal(winners.length, 1, `${winners.length} writers won`);
    has(await rows.of(stores[0]!, 1), { token: winners[0]!, version: seen[0]!.version + 1 }, 'the row');
  },
  'remembers a layout once, whichever process notes it': async (rows) => {
    const store = await rows.prepared();
    await Promise.all([...LAYOUTS, ...LAYOUTS].map((each) => rows.open().rememberLayout(each)));
    await store.rememberLayout(LAYOUTS[0]);
    same([...(await store.readTable()).layouts].sort(), [...LAYOUTS].sort(), 'the layouts');
  },
};

async function writesAndReadsBack(rows: Rows): Promise<void> {
  const store = await rows.prepared();
  const before = await rows.of(store, 2);
  const odometers = [
    { ms: 1_704_067_200_123, sequence: 1_023 },
    { ms: -5, sequence: 0 },
  ] as const;
  const change = { token: 'Zz9_-'.repeat(12), holder: 'Häuser 🏠', lane: 1, odometers, leaseMs: 12_345 } as const;
  const write = writeTo(before, change);
  const { nowMs: earliest } = await store.readTable();
  assert.equal(await store.write(write), true);
  const { nowMs: latest, rows: all } = await store.readTable();
  const after = all.find(({ id }) => id === 2)!;
  const { token, holder, layout, code } = write;
  const versions = { version: before.version + 1, ownVersion: before.version + 1 };
  has(after, { ...versions, token, holder, layout, lane: 1, odometers, code }, 'the row');
  between(after.leaseUntilMs, earliest + 12_345, latest + 12_345, 'leaseUntilMs');
  // A time column may be a little coarser than a clock.
  between(after.heartbeatMs, earliest - 1, latest + 1, 'heartbeatMs');
  same(storedOf(await rows.of(store, 2)), storedOf(after), 'the row by readRow');
  same(storedOf(await rows.of(store, 1)), storedOf({ ...before, id: 1 }), 'row 1');
}

export const idsIn = ({ rows }: WorkerSample): number[] => rows.map(({ id }) => id);

/** `readSample` has a few free rows, and what has to be known of the others. */
export const sampleCases: Cases = {
  'has the rows as they are, and counts all': async (rows) => {
    const store = await rows.prepared(6);
    await rows.take(store, 2);
    const before = wallClock.now();
    const sample = await rows.sample(store, { workers: { min: 1, max: 4 }, from: 4, atMost: 2 });
    between(sample.nowMs, before - COARSE_MS, wallClock.now() + COARSE_MS, 'nowMs');
    has(sample, { total: 4, live: 1, foreign: 0, layouts: [] }, 'the sample');
    same(sample.rows[1], await rows.of(store, 1), 'row 1');
  },
  'counts rows that expired within the grace as held': async (rows) => {
    const store = await rows.prepared(3);
    await rows.take(store, 1, { leaseMs: -900 });
    has(await rows.sample(store, { graceMs: 4_000 }), { total: 3, live: 1 }, 'the sample');
  },
  'has rows that can be written as they were sampled': async (rows) => {
    const store = await rows.prepared();
    const sample = await rows.sample(store);
    assert.equal(sample.rows.length, 3);
    for (const row of sample.rows) assert.equal(await store.write(writeTo(row)), true);
    for (const row of sample.rows) assert.equal(await store.write(writeTo(row)), false);
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
    const request = { workers: { min: 2, max: 2 }, from: 2, atMost: 1, graceMs: INCLUDE_HELD };
    const sample = await rows.sample(store, request);
    same(sample.rows.map(storedOf), [storedOf(row)], 'the rows');
    has(sample, { layouts: [], layoutsOfRows: [row.layout] }, 'the sample');
    const none = { workers: { min: 9, max: 9 }, from: 9, atMost: 1, graceMs: INCLUDE_HELD };
    same(idsIn(await rows.sample(store, none)), [], 'the rows of a range without any');
  },
};

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
    await store.fence(fenceFor(1_000));
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
    assert.equal(await store.fence(fenceFor(1_000)), 3);
    const fenced = (await store.readTable()).deleted[0]!.odometers[0].ms;
    assert.ok(fenced >= nowMs + 1_000, 'a deleted row was left out by the fence');
  },
  'has, in a sample, no deleted row but its layout': async (rows) => {
    const store = await rows.prepared(3);
    await rows.take(store, 3, { layout: LAYOUTS[0], token: '', leaseMs: 0 });
    const { layout } = await rows.take(store, 2);
    for (const id of [2, 3]) await rows.markDeleted(id);
    const request = { workers: { min: 2, max: 2 }, from: 2, atMost: 1, graceMs: INCLUDE_HELD };
    const sample = await rows.sample(store, request);
    has(sample, { rows: [], total: 0, live: 0, layouts: [] }, 'the sample');
    same([...sample.layoutsOfRows].sort(), [layout, LAYOUTS[0]].sort(), 'the layouts of the rows');
  },
};
