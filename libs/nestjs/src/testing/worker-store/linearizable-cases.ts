import assert from 'node:assert/strict';
import type { WorkerRow, WorkerStore } from '@raindrop/core';
import { HELD_TOO } from '@raindrop/core/internal';
import { LAYOUTS, turn, upTo, writeTo, type Cases, type Rows } from './bench.js';
import { same } from './check.js';

const RACES = 20;
const WRITES = 60;

/** The three ways to read a row. */
const READS: Readonly<Record<string, (store: WorkerStore, id: number) => Promise<WorkerRow | undefined>>> = {
  readRow: async (store, id) => (await store.readRow(id)).row,
  readTable: async (store, id) => (await store.readTable()).rows.find((row) => row.id === id),
  readSample: async (store, id) => {
    const workers = { min: id, max: id };
    return (await store.readSample({ workers, from: id, atMost: 1, graceMs: HELD_TOO })).rows[0];
  },
};

/** What was acknowledged is there for everybody, from that moment on: no follower, cache or snapshot may answer. */
export const linearizableCases: Cases = {
  'shows what was written to everybody, from the moment of the answer': async (rows) => {
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
  'shows new rows, a new layout and a fence to everybody, from the moment of the answer': async (rows) => {
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
    await one.fence(1_000);
    assert.equal((await rows.of(other, 1)).token, '', 'another process does not show the fence');
    assert.equal(await other.write(writeTo(row)), false);
  },
  'never shows an older row after a newer one, whoever has seen that': linearizableHistory,
};

/** Versions follow each other, so a read is right that lies between what was known at its begin and sent before its end. */
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
