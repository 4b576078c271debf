import assert from 'node:assert/strict';
import { unusedRow, type WorkerRow } from '@raindrop/core';
import { wallClock } from '@raindrop/core/internal';
import { between, has, same } from './check.js';
import { byId, COARSE_MS, LARGEST, LAYOUTS, storedOf, upTo, writeTo, type Cases, type Rows } from './bench.js';

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
  'remembers a layout once, whoever notes it': async (rows) => {
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
