import assert from 'node:assert/strict';
import type { WorkerRow, WorkerStore } from '@raindrop/core';
import { FENCE_LEAP } from '@raindrop/core/internal';
import { between, has } from './check.js';
import { byId, LARGEST, turn, writeTo, type Cases, type Rows } from './bench.js';

const AHEAD_MS = 95_000;
/** So many that whoever does one after the other is seen at it. */
const MANY = 60;
const ROUNDS = 3;

/** `fence` raises every odometer, all at one moment. */
export const fenceCases: Cases = {
  'fences: every row is free, with both odometers past all that can have been granted': fencesAll,
  'fences all rows or none, whoever looks meanwhile': async (rows) => {
    const store = await rows.prepared(MANY);
    const others = Array.from({ length: 3 }, () => rows.open());
    // Connected by now, they are fast enough to look in between.
    await Promise.all(others.map((each) => each.readTable()));
    for (let round = 0; round < ROUNDS; round++) {
      const before = new Map((await store.readTable()).rows.map(({ id, version }) => [id, version]));
      const isFenced = ({ id, version }: WorkerRow): boolean => version - before.get(id)! >= FENCE_LEAP;
      let isOver = false;
      const looks = Promise.all(others.map((other, index) => watch(other, index, isFenced, () => isOver)));
      looks.catch(() => {});
      try {
        assert.equal(await store.fence(AHEAD_MS), MANY);
      } finally {
        isOver = true;
        await looks;
      }
      assert.ok((await store.readTable()).rows.every(isFenced), 'a row was left out by the fence');
    }
  },
  'fences in such a way that of writes that race with it none comes between the rows': async (rows) => {
    const store = await rows.prepared(MANY);
    const other = rows.open();
    const before = byId((await other.readTable()).rows);
    let isOver = false;
    const fence = store.fence(AHEAD_MS).finally(() => (isOver = true));
    fence.catch(() => {});
    // From the last to the first: once one of them is fenced, so is the next one.
    let firstRefused: number | undefined;
    for (const row of [...before].reverse()) {
      const wasOver = isOver;
      const isWritten = await other.write(writeTo(row));
      assert.ok(!isWritten || !wasOver, `row ${row.id} was written as it was before the fence`);
      if (!isWritten) firstRefused ??= row.id;
      const refused = `row ${firstRefused} was fenced already`;
      assert.ok(!isWritten || firstRefused === undefined, `row ${row.id} was not fenced when ${refused}`);
    }
    await fence;
  },
};

/** Looks at the table, or at its ends one after the other, until the fence is over. */
async function watch(
  store: WorkerStore,
  index: number,
  isFenced: (row: WorkerRow) => boolean,
  isOver: () => boolean,
): Promise<void> {
  do {
    await turn();
    if (index === 0) {
      const { rows } = await store.readTable();
      const count = rows.filter(isFenced).length;
      assert.ok(count === 0 || count === rows.length, `${count} of ${rows.length} rows were fenced at one moment`);
    } else {
      const ends = index === 1 ? [1, MANY] : [MANY, 1];
      const [one, next] = [await store.readRow(ends[0]!), await store.readRow(ends[1]!)];
      const inParts = isFenced(one.row!) && !isFenced(next.row!);
      assert.ok(!inParts, `row ${ends[0]} was fenced, and row ${ends[1]}, read after it, was not`);
    }
  } while (!isOver());
}

async function fencesAll(rows: Rows): Promise<void> {
  const store = await rows.prepared(4);
  const { nowMs } = await store.readTable();
  const low = { ms: nowMs - 5_000, sequence: 3 };
  const high = { ms: nowMs + 9_000_000, sequence: 4 };
  await rows.take(store, 1, { token: 'held', odometers: [low, high] });
  await rows.take(store, 2, { token: '', odometers: [low, low], leaseMs: 0 });
  await rows.take(store, 3);
  const before = await store.readTable();
  assert.equal(await store.fence(AHEAD_MS), 4);
  const after = await store.readTable();
  for (const [index, row] of byId(after.rows).entries()) {
    const { id, version, ownVersion, layout, code, lane } = byId(before.rows)[index]!;
    const versions = { version: version + FENCE_LEAP, ownVersion: ownVersion + FENCE_LEAP };
    has(row, { id, layout, code, lane, holder: '', token: '', ...versions }, `row ${id}`);
    assert.ok(row.leaseUntilMs <= after.nowMs, `the lease of row ${id} has not ended`);
    for (const [lane, { ms, sequence }] of row.odometers.entries()) {
      assert.equal(sequence, LARGEST);
      if (id === 1 && lane === 1) assert.equal(ms, high.ms);
      else between(ms, before.nowMs + AHEAD_MS, after.nowMs + AHEAD_MS, `odometer ${lane} of row ${id}`);
    }
  }
  assert.equal(await store.write(writeTo(byId(before.rows)[0]!)), false);
  assert.equal(await store.write(writeTo(byId(after.rows)[0]!)), true);
}
