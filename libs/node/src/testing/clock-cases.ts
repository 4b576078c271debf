import assert from 'node:assert/strict';
import {
  believedFromMs,
  FENCE_LEAP,
  INCLUDE_HELD,
  isHeld,
  layoutsLostUntilMs,
  wallClock,
} from '@raindrop/core/internal';
import type { WorkerRow, WorkerStore } from '@raindrop/core';
import { monotonicClock } from '../system/system-ports.js';
import {
  between,
  byId,
  type Cases,
  has,
  LARGEST,
  LAYOUTS,
  type Rows,
  same,
  storedOf,
  turn,
  until,
  upTo,
  writeTo,
  fenceFor,
} from './bench.js';
import { idsIn } from './write-cases.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LEASE_MS = 60_000;
const SHORT_LEASE_MS = 50;
/** Two clocks are read one after the other. */
const GRAIN_MS = 5;

/** While `call` runs, the clock of this process is `aheadMs` ahead, as that of another host may be. */
async function atClock<T>(aheadMs: number, call: () => Promise<T>): Promise<T> {
  const Real = Date;
  const now = (): number => Real.now() + aheadMs;
  const { now: realNow } = wallClock;
  wallClock.now = now;
  globalThis.Date = new Proxy(Real, {
    apply: () => new Real(now()).toString(),
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as object,
    get: (target, key) => (key === 'now' ? now : (Reflect.get(target, key) as unknown)),
  });
  try {
    return await call();
  } finally {
    globalThis.Date = Real;
    wallClock.now = realNow;
  }
}

async function leftMs(store: WorkerStore, id: number): Promise<number> {
  const { nowMs, row } = await store.readRow(id);
  return row!.leaseUntilMs - nowMs;
}

/** A lease lasts equally long for all processes, however wrong their clocks are: by the store's clock, or by none. */
export const clockCases: Cases = {
  'leaves a held row to its holder, for a process whose clock is an hour ahead': async (rows) => {
    const [holder, other] = [await rows.prepared(2), rows.open()];
    const before = monotonicClock.now();
    await rows.take(holder, 1, { leaseMs: LEASE_MS });
    await atClock(HOUR_MS, async () => {
      const left = await leftMs(other, 1);
      between(
        left,
        LEASE_MS - (monotonicClock.now() - before) - GRAIN_MS,
        LEASE_MS + GRAIN_MS,
        'what is left of the lease',
      );
      const sample = await rows.sample(other);
      assert.deepEqual([...idsIn(sample)], [2], 'a row that is held was sampled');
      has(sample, { total: 2, live: 1 }, 'the sample');
      const { nowMs, rows: all } = await other.readTable();
      assert.equal(all.filter((row) => isHeld(row, nowMs, 0)).length, 1, 'readTable does not show that a row is held');
    });
  },
  ...Object.fromEntries(
    Object.entries({ ahead: HOUR_MS, behind: -HOUR_MS }).map(([where, aheadMs]) => [
      `gives a lease its length and no more, when the holder's clock is an hour ${where}`,
      async (rows) => {
        const [other, holder] = [await rows.prepared(2), rows.open()];
        const before = monotonicClock.now();
        await atClock(aheadMs, () => rows.take(holder, 1, { leaseMs: LEASE_MS }));
        const left = await leftMs(other, 1);
        between(
          left,
          LEASE_MS - (monotonicClock.now() - before) - GRAIN_MS,
          LEASE_MS + GRAIN_MS,
          'the lease of another',
        );
        await atClock(aheadMs, async () => {
          const own = await leftMs(holder, 1);
          between(own, LEASE_MS - (monotonicClock.now() - before) - GRAIN_MS, LEASE_MS + GRAIN_MS, 'its own lease');
        });
      },
    ]),
  ),
  'ends a lease that its holder does not renew, for all processes, whatever their clocks are': async (rows) => {
    const [holder, other] = [await rows.prepared(2), rows.open()];
    await rows.take(holder, 1, { leaseMs: SHORT_LEASE_MS });
    for (const aheadMs of [0, HOUR_MS, -HOUR_MS]) {
      const isOver = async (): Promise<boolean> => {
        const left = await leftMs(other, 1);
        assert.ok(left <= SHORT_LEASE_MS + GRAIN_MS, `a lease of ${SHORT_LEASE_MS} ms lasts another ${left} ms`);
        return left <= 0;
      };
      await atClock(aheadMs, () => until('the end of a lease', isOver));
    }
    await rows.take(holder, 1, { leaseMs: LEASE_MS });
    assert.ok((await leftMs(other, 1)) > 0, 'a lease that was renewed is over');
  },
};

const AHEAD_MS = 95_000;
/** The number of rows: enough to observe a fence that changes them one after the other. */
const MANY = 60;
const ROUNDS = 3;

/** By a clock, or by the times in the store. */
function isRefusal(error: unknown): true {
  assert.match(String((error as { errorCode?: unknown } | undefined)?.errorCode), /^CLOCK_(SKEW|BEHIND)$/);
  return true;
}

/** `fence` raises every odometer, all at one moment; its rule is in fence.ts of the core. */
export const fenceCases: Cases = {
  'fences: every row is free, with both odometers past all that can have been granted': fencesAll,
  'fences rows that are added later: the table may have lacked them, and their holders issued on': async (rows) => {
    const store = await rows.prepared(2);
    const { nowMs } = await store.readTable();
    await store.fence(fenceFor(AHEAD_MS));
    const later = await rows.prepared(4);
    const table = await later.readTable();
    const sample = await rows.sample(later);
    for (const [what, found, leastMs] of [
      ['readTable', table.rows, Math.max(table.barredUntilMs ?? 0, table.lostUntilMs ?? 0)],
      ['readSample', sample.rows, sample.barredUntilMs ?? 0],
    ] as const) {
      same(
        byId(found).map(({ id }) => id),
        upTo(4),
        `the rows of ${what}`,
      );
      for (const { id, odometers } of found) {
        const freeAtMs = Math.max(leastMs, Math.min(odometers[0].ms, odometers[1].ms));
        const earlyMs = nowMs + AHEAD_MS - freeAtMs;
        assert.ok(earlyMs <= 0, `by ${what}, row ${id} may be acquired ${earlyMs} ms too early`);
      }
    }
    assert.equal(await later.write(writeTo(byId(table.rows)[3]!)), true);
  },
  'bars no shorter after a second fence': async (rows) => {
    const store = await rows.prepared(2);
    await store.fence(fenceFor(2 * AHEAD_MS));
    const first = believedFromMs(await store.readTable());
    await store.fence(fenceFor(1_000));
    assert.equal(believedFromMs(await store.readTable()), first, 'the second fence has changed the bar');
  },
  'makes no fence by a clock that is an hour behind: by a right one, or none': async (rows) => {
    const store = await rows.prepared(2);
    const held = await rows.take(store, 1, { leaseMs: LEASE_MS });
    const { nowMs } = await store.readTable();
    const made = await atClock(-HOUR_MS, () => store.fence(fenceFor(AHEAD_MS)).catch((error: unknown) => error));
    if (made === 2) {
      assert.ok(believedFromMs(await store.readTable()) >= nowMs + AHEAD_MS, 'the fence ends too early');
    } else {
      isRefusal(made);
      same(storedOf(await rows.of(store, 1)), storedOf(held), 'the row that is held');
      assert.equal(believedFromMs(await store.readTable()), 0, 'the table is barred');
    }
  },
  'refuses a fence where IDs were granted far beyond it, unless the operator says up to when': async (rows) => {
    const store = await rows.prepared(2);
    const { nowMs } = await store.readTable();
    const ahead = { ms: nowMs + DAY_MS, sequence: 7 };
    await rows.take(store, 1, { token: '', odometers: [ahead, ahead], leaseMs: 0 });
    await assert.rejects(store.fence(fenceFor(AHEAD_MS)), isRefusal);
    assert.equal(believedFromMs(await store.readTable()), 0, 'the table is barred');
    const issuedUntilMs = nowMs + HOUR_MS;
    assert.equal(await store.fence(fenceFor(AHEAD_MS, { issuedUntilMs })), 2);
    assert.equal(believedFromMs(await store.readTable()), issuedUntilMs);
    const { odometers } = await rows.of(store, 1);
    assert.deepEqual(
      odometers.map(({ ms }) => ms),
      [issuedUntilMs, issuedUntilMs],
      'the odometers',
    );
    await store.fence(fenceFor(AHEAD_MS, { issuedUntilMs: nowMs }));
    const { nowMs: later, ...table } = await store.readTable();
    assert.ok(believedFromMs(table) < later + HOUR_MS / 2, 'a bar of a wrong clock stays for ever');
  },
  'takes a fence for a loss of layouts, unless the operator states which one alone has served': async (rows) => {
    const store = await rows.prepared(1);
    const [alone, other] = LAYOUTS;
    const lost = async (): Promise<number[]> => {
      const table = await store.readTable();
      return [alone, other].map((each) => layoutsLostUntilMs(table, each));
    };
    const { nowMs } = await store.readTable();
    assert.deepEqual(await lost(), [0, 0]);
    for (let fences = 0; fences < 2; fences++) {
      await store.fence(fenceFor(AHEAD_MS, { servedAlone: alone }));
      const [ofAlone, ofOther] = await lost();
      assert.equal(ofAlone, 0, 'the layout that has served alone is shut out');
      assert.ok(ofOther! >= nowMs + AHEAD_MS, 'another one is not judged');
    }
    await store.fence(fenceFor(HOUR_MS));
    const [all, ofOther] = await lost();
    assert.ok(all === ofOther && all! >= nowMs + HOUR_MS, 'a fence without the statement is none');
    await store.fence(fenceFor(AHEAD_MS, { servedAlone: alone }));
    assert.deepEqual(await lost(), [all, all], 'an earlier fence is forgotten');
    await store.fence(fenceFor(AHEAD_MS, { servedAlone: alone, issuedUntilMs: nowMs }));
    assert.ok(
      (await lost()).every((each) => each < nowMs + HOUR_MS),
      'a statement takes nothing back',
    );
  },
  'leaves the odometers of other layouts where one alone has served': async (rows) => {
    const store = await rows.prepared(3);
    const [alone, other] = LAYOUTS;
    const { nowMs } = await store.readTable();
    const odometers = [
      { ms: nowMs - 20_000, sequence: 3 },
      { ms: nowMs - 10_000, sequence: 5 },
    ] as const;
    await rows.take(store, 1, { layout: other, odometers });
    await rows.take(store, 2, { layout: alone, odometers });
    await store.fence(fenceFor(AHEAD_MS, { servedAlone: alone }));
    const table = await store.readTable();
    const raised = { ms: believedFromMs(table), sequence: LARGEST };
    const found = byId(table.rows).map((row) => row.odometers);
    assert.deepEqual(found, [odometers, [raised, raised], [raised, raised]]);
    await store.fence(fenceFor(AHEAD_MS));
    const first = believedFromMs(await store.readTable());
    await store.fence(fenceFor(HOUR_MS, { servedAlone: alone }));
    const { rows: again } = await store.readTable();
    assert.deepEqual(
      byId(again)[0]!.odometers.map(({ ms }) => ms),
      [first, first],
      'raised by the wrong fence',
    );
  },
  'fences all rows or none, for every reader meanwhile': async (rows) => {
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
        assert.equal(await store.fence(fenceFor(AHEAD_MS)), MANY);
      } finally {
        isOver = true;
        await looks;
      }
      assert.ok((await store.readTable()).rows.every(isFenced), 'a row was left out by the fence');
    }
  },
  'fences at one moment: no write that races with it comes between the rows': async (rows) => {
    const store = await rows.prepared(MANY);
    const other = rows.open();
    const before = byId((await other.readTable()).rows);
    let isOver = false;
    const fence = store.fence(fenceFor(AHEAD_MS)).finally(() => (isOver = true));
    fence.catch(() => {});
    // From the last to the first: once one of them is fenced, so is the next one. A store may refuse a write a moment
    // before that.
    let firstFenced: number | undefined;
    for (const row of [...before].reverse()) {
      const wasOver = isOver;
      const isWritten = await other.write(writeTo(row));
      assert.ok(!isWritten || !wasOver, `row ${row.id} was written as it was before the fence`);
      const fenced = `row ${firstFenced} was fenced already`;
      assert.ok(!isWritten || firstFenced === undefined, `row ${row.id} was not fenced when ${fenced}`);
      if (isWritten || firstFenced !== undefined) continue;
      const found = (await other.readRow(row.id)).row!;
      if (found.version - row.version >= FENCE_LEAP) firstFenced = row.id;
    }
    await fence;
  },
};

/** Reads the table, or its first and last row, until the fence is over. */
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
  // As an earlier fence may have left it.
  const high = { ms: nowMs + 9_000_000, sequence: LARGEST };
  await rows.take(store, 1, { token: 'held', odometers: [low, high] });
  await rows.take(store, 2, { token: '', odometers: [low, low], leaseMs: 0 });
  await rows.take(store, 3);
  const before = await store.readTable();
  assert.equal(await store.fence(fenceFor(AHEAD_MS)), 4);
  const after = await store.readTable();
  // A store may bar for longer.
  const endMs = Math.max(after.nowMs + AHEAD_MS, after.barredUntilMs ?? 0, after.lostUntilMs ?? 0);
  for (const [index, row] of byId(after.rows).entries()) {
    const { id, version, ownVersion, layout, code, lane } = byId(before.rows)[index]!;
    const versions = { version: version + FENCE_LEAP, ownVersion: ownVersion + FENCE_LEAP };
    has(row, { id, layout, code, lane, holder: '', token: '', ...versions }, `row ${id}`);
    assert.ok(row.leaseUntilMs <= after.nowMs, `the lease of row ${id} has not ended`);
    for (const [lane, { ms, sequence }] of row.odometers.entries()) {
      assert.equal(sequence, LARGEST);
      if (id === 1 && lane === 1) assert.equal(ms, high.ms);
      else between(ms, before.nowMs + AHEAD_MS, endMs, `odometer ${lane} of row ${id}`);
    }
  }
  assert.equal(await store.write(writeTo(byId(before.rows)[0]!)), false);
  assert.equal(await store.write(writeTo(byId(after.rows)[0]!)), true);
}

const RACES = 20;
const WRITES = 60;

/** The three ways to read a row. */
const READS: Readonly<Record<string, (store: WorkerStore, id: number) => Promise<WorkerRow | undefined>>> = {
  readRow: async (store, id) => (await store.readRow(id)).row,
  readTable: async (store, id) => (await store.readTable()).rows.find((row) => row.id === id),
  readSample: async (store, id) => {
    const workers = { min: id, max: id };
    return (await store.readSample({ workers, from: id, atMost: 1, graceMs: INCLUDE_HELD })).rows[0];
  },
};

/** From the acknowledgement on, every process reads what was written: no follower, cache or snapshot may answer. */
export const linearizableCases: Cases = {
  'shows every process what was written, from the moment of the answer': async (rows) => {
    const stores = [await rows.prepared(), rows.open(), rows.open()];
    for (const store of stores) await store.readTable();
    for (let round = 0; round < RACES; round++) {
      const [writer, reader] = [stores[round % 3]!, stores[(round + 1) % 3]!];
      for (const [name, read] of Object.entries(READS)) {
        const before = await rows.of(writer, 1);
        const token = `round-${round}-${name}`;
        assert.equal(await writer.write(writeTo(before, { token })), true);
        const found = await read(reader, 1);
        assert.equal(found?.token, token, `${name} of another process does not show a write that was acknowledged`);
        assert.equal(found.version, before.version + 1);
      }
    }
  },
  'shows every process new rows, a new layout and a fence, from the moment of the answer': async (rows) => {
    const [one, other] = [await rows.prepared(2), rows.open()];
    same(await rows.ids(other), upTo(2), 'the rows');
    for (let max = 3; max < 9; max++) {
      await one.prepare({ min: 1, max });
      same(await rows.ids(other), upTo(max), 'the rows of another process');
    }
    for (const [index, layout] of LAYOUTS.entries()) {
      await one.rememberLayout(layout);
      const noted = LAYOUTS.slice(0, index + 1).sort();
      same([...(await other.readTable()).layouts].sort(), noted, 'the layouts by readTable');
      same([...(await rows.sample(other)).layouts].sort(), noted, 'the layouts by readSample');
    }
    const row = await rows.take(one, 1);
    assert.equal((await rows.of(other, 1)).token, row.token);
    await one.fence(fenceFor(1_000));
    assert.equal((await rows.of(other, 1)).token, '', 'another process does not show the fence');
    assert.equal(await other.write(writeTo(row)), false);
  },
  'never shows an older row after a newer one, whichever process has read that': linearizableHistory,
};

/**
 * Versions follow each other. A read is right when its version lies between the last acknowledged one before it began
 * and the last one sent before it ended.
 */
async function linearizableHistory(rows: Rows): Promise<void> {
  const writer = await rows.prepared();
  const first = await rows.of(writer, 2);
  const readers = Array.from({ length: 4 }, () => rows.open());
  let [known, sent, isOver] = [first.version, first.version, false];
  const tokens = new Map([[first.version, first.token]]);
  const follow = async (store: WorkerStore): Promise<void> => {
    do {
      for (const [name, read] of Object.entries(READS)) {
        const least = known;
        const found = await read(store, 2);
        assert.ok(found !== undefined, `${name} does not show the row`);
        const { version, token } = found;
        assert.ok(version >= least, `${name} shows version ${version}, and version ${least} was known before it`);
        assert.ok(version <= sent, `${name} shows version ${version}, and no more than ${sent} was ever sent`);
        assert.equal(token, tokens.get(version), `${name} shows version ${version} with another token`);
        known = Math.max(known, version);
      }
      await turn();
    } while (!isOver);
  };
  const following = Promise.all(readers.map(follow));
  following.catch(() => {});
  try {
    let row = first;
    for (let count = 1; count <= WRITES; count++) {
      const write = writeTo(row, { token: `write-${count}` });
      sent = row.version + 1;
      tokens.set(sent, write.token);
      assert.equal(await writer.write(write), true);
      known = Math.max(known, sent);
      row = await rows.of(writer, 2);
      await turn();
    }
  } finally {
    isOver = true;
    await following;
  }
}
