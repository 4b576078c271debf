import { FENCE_LEAP, HELD_TOO } from '@raindrop/core/internal';
import type { SampleRequest, WorkerRow, WorkerSample, WorkerStore, WorkerWrite } from '@raindrop/core';
import { expectSince } from '../waiting/expect-since.js';

/** One empty database, and what others than Raindrop may do to it. */
export interface WorkerStoreBench {
  /** One more store on the same table, as another process would have it. The bench closes it. */
  open(): WorkerStore;
  /** Another program writes the row, and as the Go original does, it only counts `version` up. */
  foreignWrite(id: number): Promise<void>;
  /** Somebody sets del_flag to 1. */
  markDeleted(id: number): Promise<void>;
  /** Closes every store and removes the database. */
  dispose(): Promise<void>;
}

const LARGEST = Number.MAX_SAFE_INTEGER;
const LEASE_MS = 60_000;

/** A write that takes the row as it was read. */
export function writeTo(row: WorkerRow, change: Partial<WorkerWrite> = {}): WorkerWrite {
  return {
    id: row.id,
    expected: { version: row.version, token: row.token },
    token: 'a1',
    holder: 'host-1 pid 42',
    layout: '1@1704067200000:t41.w10.b1.s10.e1=0',
    lane: 0,
    odometers: row.odometers,
    code: '10.0.0.1#8080#1#aa-bb',
    timeUnit: 1,
    leaseMs: LEASE_MS,
    ...change,
  };
}

/** What every {@link WorkerStore} promises, whatever is underneath. */
export function describeWorkerStore(name: string, make: () => Promise<WorkerStoreBench>): void {
  describe(`WorkerStore on ${name}`, () => {
    let bench: WorkerStoreBench;

    beforeEach(async () => {
      bench = await make();
    });

    afterEach(async () => {
      await bench.dispose();
    });

    /** A store whose table has the rows 1 to `max`. */
    async function prepared(max = 3): Promise<WorkerStore> {
      const store = bench.open();
      await store.prepare({ min: 1, max });
      return store;
    }

    async function rowOf(store: WorkerStore, id: number): Promise<WorkerRow> {
      const { row } = await store.readRow(id);
      if (row === undefined) throw new Error(`row ${id} is missing`);
      return row;
    }

    async function idsOf(store: WorkerStore): Promise<number[]> {
      const { rows } = await store.readTable();
      return rows.map(({ id }) => id).sort((a, b) => a - b);
    }

    it('creates the rows of the range, unused', async () => {
      const store = bench.open();
      await store.prepare({ min: 1, max: 3 });
      expect(await idsOf(store)).toEqual([1, 2, 3]);
      const row = await rowOf(store, 2);
      expect(row).toMatchObject({ id: 2, token: '', holder: '', layout: '', code: '', lane: 0, leaseUntilMs: 0 });
      expect(row.odometers).toEqual([
        { ms: 0, sequence: -1 },
        { ms: 0, sequence: -1 },
      ]);
      expect(row.ownVersion).toBe(row.version);
      expect(Date.now() - row.heartbeatMs).toBeGreaterThan(86_400_000);
    });

    it('has a clock also when there is no row', async () => {
      const store = bench.open();
      await store.prepare({ min: 5, max: 5 });
      await bench.markDeleted(5);
      const before = Date.now();
      const { nowMs, rows, layouts } = await store.readTable();
      expect({ rows, layouts }).toEqual({ rows: [], layouts: [] });
      expectSince(before, nowMs);
      expect(await store.readRow(5)).toEqual({ nowMs: expect.any(Number) as number, row: undefined });
      expect(await store.readRow(6)).toMatchObject({ row: undefined });
    });

    it('may be prepared twice: what was written stays', async () => {
      const store = await prepared();
      expect(await store.write(writeTo(await rowOf(store, 2)))).toBe(true);
      const written = await rowOf(store, 2);
      await store.prepare({ min: 1, max: 3 });
      await bench.open().prepare({ min: 1, max: 3 });
      expect(await idsOf(store)).toEqual([1, 2, 3]);
      expect(await rowOf(store, 2)).toEqual(written);
    });

    it('adds what a wider range lacks, and leaves alone what a narrower one does not name', async () => {
      const store = await prepared(2);
      await store.write(writeTo(await rowOf(store, 1)));
      const written = await rowOf(store, 1);
      await store.prepare({ min: 0, max: 4 });
      expect(await idsOf(store)).toEqual([0, 1, 2, 3, 4]);
      expect(await rowOf(store, 1)).toEqual(written);
      await store.prepare({ min: 2, max: 3 });
      expect(await idsOf(store)).toEqual([0, 1, 2, 3, 4]);
    });

    it('creates all rows of the largest range', async () => {
      const store = await prepared(1_023);
      const ids = await idsOf(store);
      expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_023, 1, 1_023]);
    });

    it('may be prepared by eight at once on an empty database', async () => {
      const stores = Array.from({ length: 8 }, () => bench.open());
      await Promise.all(stores.map((store, index) => store.prepare({ min: 1, max: 40 + index })));
      for (const store of stores)
        expect(await idsOf(store)).toEqual(Array.from({ length: 47 }, (_, index) => index + 1));
    });

    it('writes a row that is as expected, and reads back what was written', async () => {
      const store = await prepared();
      const before = await rowOf(store, 2);
      const odometers = [
        { ms: 1_704_067_200_123, sequence: 1_023 },
        { ms: -5, sequence: 0 },
      ] as const;
      const change = { token: 'Zz9_-'.repeat(12), holder: 'Häuser 🏠', lane: 1, odometers, leaseMs: 12_345 } as const;
      const write = writeTo(before, change);
      const { nowMs: earliest } = await store.readTable();
      expect(await store.write(write)).toBe(true);
      const { nowMs: latest, rows } = await store.readTable();
      const after = rows.find(({ id }) => id === 2)!;
      expect(after).toMatchObject({
        version: before.version + 1,
        ownVersion: before.version + 1,
        token: write.token,
        holder: write.holder,
        layout: write.layout,
        lane: 1,
        odometers,
        code: write.code,
      });
      expect(after.leaseUntilMs).toBeGreaterThanOrEqual(earliest + 12_345);
      expect(after.leaseUntilMs).toBeLessThanOrEqual(latest + 12_345);
      // A time column may be a little coarser than a clock.
      expect(after.heartbeatMs).toBeGreaterThanOrEqual(earliest - 1);
      expect(after.heartbeatMs).toBeLessThanOrEqual(latest + 1);
      expect((await store.readRow(2)).row).toEqual(after);
      expect(await rowOf(store, 1)).toEqual({ ...before, id: 1 });
    });

    it.each([
      ['another version', (row: WorkerRow) => ({ version: row.version + 1, token: row.token })],
      ['another token', (row: WorkerRow) => ({ version: row.version, token: `${row.token}x` })],
      ['the token in capitals', (row: WorkerRow) => ({ version: row.version, token: row.token.toUpperCase() })],
      ['no token', (row: WorkerRow) => ({ version: row.version, token: '' })],
    ])('does not write a row that is expected with %s', async (_, expectation) => {
      const store = await prepared();
      await store.write(writeTo(await rowOf(store, 1), { token: 'abc' }));
      const before = await rowOf(store, 1);
      expect(await store.write(writeTo(before, { expected: expectation(before), token: 'thief' }))).toBe(false);
      expect(await rowOf(store, 1)).toEqual(before);
    });

    it('does not write rows that are missing or deleted', async () => {
      const store = await prepared();
      const row = await rowOf(store, 3);
      await bench.markDeleted(3);
      expect(await store.write(writeTo(row))).toBe(false);
      expect(await store.write(writeTo({ ...row, id: 99 }))).toBe(false);
      expect(await idsOf(store)).toEqual([1, 2]);
    });

    it('leaves out a row marked deleted, remembers what was granted there, and never makes it anew', async () => {
      const store = await prepared();
      const odometers = [
        { ms: 5_000, sequence: 1 },
        { ms: 6_000, sequence: 2 },
      ] as const;
      await store.write(writeTo(await rowOf(store, 2), { odometers }));
      const written = await rowOf(store, 2);
      await bench.markDeleted(2);
      await store.prepare({ min: 1, max: 3 });
      expect(await idsOf(store)).toEqual([1, 3]);
      expect((await store.readTable()).deleted).toEqual([written]);
      const { nowMs } = await store.readTable();
      expect(await store.fence(1_000)).toBe(3);
      expect((await store.readTable()).deleted[0]!.odometers[0].ms).toBeGreaterThanOrEqual(nowMs + 1_000);
    });

    describe('a sample of the free rows', () => {
      const OTHER = '1000@1672531200:t33.w10.b1.s18.e1=0';
      const idsIn = ({ rows }: WorkerSample): number[] => rows.map(({ id }) => id);
      const sampleOf = (store: WorkerStore, request: Partial<SampleRequest> = {}): Promise<WorkerSample> =>
        store.readSample({ workers: { min: 1, max: 9 }, from: 1, atMost: 9, graceMs: 0, ...request });

      it('begins with the number that is asked for, goes round, and has as many rows as may be', async () => {
        const store = await prepared(6);
        const before = Date.now();
        const { nowMs, ...rest } = await sampleOf(store, { from: 4, atMost: 4 });
        expectSince(before, nowMs);
        expect(idsIn({ nowMs, ...rest })).toEqual([4, 5, 6, 1]);
        expect(rest).toMatchObject({ total: 6, live: 0, layouts: [], layoutsOfRows: [] });
        expect(rest.rows[3]).toEqual(await rowOf(store, 1));
        expect(idsIn(await sampleOf(store, { workers: { min: 2, max: 3 }, from: 3 }))).toEqual([3, 2]);
      });

      it('has rows that can be written as they were sampled', async () => {
        const store = await prepared();
        const { rows } = await sampleOf(store);
        for (const row of rows) expect(await store.write(writeTo(row))).toBe(true);
        for (const row of rows) expect(await store.write(writeTo(row))).toBe(false);
      });

      it('puts what was given back before what has expired, and of that the oldest first', async () => {
        const store = await prepared(5);
        await store.write(writeTo(await rowOf(store, 1), { leaseMs: -5_000 }));
        await store.write(writeTo(await rowOf(store, 2), { leaseMs: -9_000 }));
        await store.write(writeTo(await rowOf(store, 3), { leaseMs: -900 }));
        await store.write(writeTo(await rowOf(store, 4)));
        await store.write(writeTo(await rowOf(store, 4), { token: '', leaseMs: 0 }));
        expect(idsIn(await sampleOf(store, { from: 5 }))).toEqual([5, 4, 2, 1, 3]);
        const withGrace = await sampleOf(store, { graceMs: 4_000 });
        expect(idsIn(withGrace)).toEqual([4, 5, 2, 1]);
        expect(withGrace).toMatchObject({ total: 5, live: 1 });
      });

      it('leaves out rows that are held, deleted, outside the range, or written last by another program', async () => {
        const store = await prepared(6);
        for (const id of [1, 2, 3, 6]) await store.write(writeTo(await rowOf(store, id)));
        for (const id of [2, 3]) await store.write(writeTo(await rowOf(store, id), { token: '', leaseMs: 0 }));
        await bench.foreignWrite(2);
        await bench.markDeleted(4);
        const sample = await sampleOf(store, { workers: { min: 1, max: 5 } });
        expect(idsIn(sample)).toEqual([3, 5]);
        expect(sample).toMatchObject({ total: 4, live: 1 });
        // Of the whole table: another program takes any row.
        await bench.foreignWrite(6);
        expect(await sampleOf(store, { workers: { min: 3, max: 5 } })).toMatchObject({ foreign: 2 });
      });

      it('comes with the layouts of all rows, deleted ones and those outside too, and with those noted', async () => {
        const store = await prepared(4);
        const deleted = '1@1704067200000:t41.w10.b1.s11';
        await store.write(writeTo(await rowOf(store, 2)));
        await store.write(writeTo(await rowOf(store, 3), { layout: deleted, token: '', leaseMs: 0 }));
        await store.write(writeTo(await rowOf(store, 4)));
        await bench.markDeleted(3);
        await store.rememberLayout(OTHER);
        const { layout } = await rowOf(store, 2);
        const seen = await sampleOf(store, { workers: { min: 1, max: 1 }, atMost: 1 });
        expect(seen.layouts).toEqual([OTHER]);
        expect([...seen.layoutsOfRows].sort()).toEqual([layout, deleted].sort());
      });

      it('has a row that is held when it is asked for', async () => {
        const store = await prepared();
        await store.write(writeTo(await rowOf(store, 2)));
        const row = await rowOf(store, 2);
        const request = { workers: { min: 2, max: 2 }, from: 2, atMost: 1, graceMs: HELD_TOO };
        expect(await sampleOf(store, request)).toMatchObject({ rows: [row], layouts: [], layoutsOfRows: [row.layout] });
        await bench.markDeleted(2);
        expect(await sampleOf(store, request)).toMatchObject({ rows: [], layoutsOfRows: [row.layout] });
        const none = { workers: { min: 9, max: 9 }, from: 9, atMost: 1, graceMs: HELD_TOO };
        expect(await sampleOf(store, none)).toMatchObject({ rows: [] });
      });

      it('has nothing but a clock where there is no row', async () => {
        const store = bench.open();
        await store.prepare({ min: 5, max: 5 });
        await bench.markDeleted(5);
        const before = Date.now();
        const { nowMs, ...rest } = await sampleOf(store);
        expectSince(before, nowMs);
        expect(rest).toEqual({ rows: [], total: 0, live: 0, foreign: 0, layouts: [], layoutsOfRows: [] });
      });
    });

    it('keeps every digit up to 2^53 - 1', async () => {
      const store = await prepared();
      const odometers = [
        { ms: LARGEST, sequence: LARGEST - 1 },
        { ms: LARGEST - 2, sequence: LARGEST },
      ] as const;
      expect(await store.write(writeTo(await rowOf(store, 1), { odometers }))).toBe(true);
      expect((await rowOf(store, 1)).odometers).toEqual(odometers);
      const { rows } = await bench.open().readTable();
      expect(rows.find(({ id }) => id === 1)!.odometers).toEqual(odometers);
    });

    it('gives a row back with an empty token and a lease that ends now', async () => {
      const store = await prepared();
      await store.write(writeTo(await rowOf(store, 1)));
      await store.write(writeTo(await rowOf(store, 1), { token: '', leaseMs: 0 }));
      const { nowMs, row } = await store.readRow(1);
      expect(row).toMatchObject({ token: '', code: '10.0.0.1#8080#1#aa-bb' });
      expect(row!.leaseUntilMs).toBeLessThanOrEqual(nowMs);
    });

    it('lets exactly one of 64 writers win', async () => {
      await prepared();
      const stores = Array.from({ length: 16 }, () => bench.open());
      const rows = await Promise.all(stores.map((store) => rowOf(store, 1)));
      const outcomes = await Promise.all(
        Array.from({ length: 64 }, async (_, index) => {
          const write = writeTo(rows[index % 16]!, { token: `writer-${index}` });
          return (await stores[index % 16]!.write(write)) ? write.token : undefined;
        }),
      );
      const winners = outcomes.filter((token) => token !== undefined);
      expect(winners).toHaveLength(1);
      expect(await rowOf(stores[0]!, 1)).toMatchObject({ token: winners[0], version: rows[0]!.version + 1 });
    });

    it('shows that another program wrote the row', async () => {
      const store = await prepared();
      await store.write(writeTo(await rowOf(store, 1)));
      const before = await rowOf(store, 1);
      await bench.foreignWrite(1);
      const after = await rowOf(store, 1);
      expect(after).toMatchObject({ version: before.version + 1, ownVersion: before.version, token: before.token });
      expect(await store.write(writeTo(before))).toBe(false);
      expect(await store.write(writeTo(after, { token: 'mine' }))).toBe(true);
      expect(await rowOf(store, 1)).toMatchObject({ version: after.version + 1, ownVersion: after.version + 1 });
    });

    it('fences: every row is free, with both odometers past all that can have been granted', async () => {
      const store = await prepared(4);
      const { nowMs } = await store.readTable();
      const low = { ms: nowMs - 5_000, sequence: 3 };
      const high = { ms: nowMs + 9_000_000, sequence: 4 };
      await store.write(writeTo(await rowOf(store, 1), { token: 'held', odometers: [low, high] }));
      await store.write(writeTo(await rowOf(store, 2), { token: '', odometers: [low, low], leaseMs: 0 }));
      await store.write(writeTo(await rowOf(store, 3)));
      await bench.foreignWrite(3);
      const before = await store.readTable();
      expect(await store.fence(95_000)).toBe(4);
      const after = await store.readTable();
      const rowsOf = ({ rows }: typeof after): WorkerRow[] => [...rows].sort((a, b) => a.id - b.id);
      for (const [index, row] of rowsOf(after).entries()) {
        const { id, version, ownVersion, layout, code, lane } = rowsOf(before)[index]!;
        expect(row).toMatchObject({ id, layout, code, lane, holder: '', token: '' });
        expect([row.version, row.ownVersion]).toEqual([version + FENCE_LEAP, ownVersion + FENCE_LEAP]);
        expect(row.leaseUntilMs).toBeLessThanOrEqual(after.nowMs);
        for (const [lane, { ms, sequence }] of row.odometers.entries()) {
          expect(sequence).toBe(LARGEST);
          if (id === 1 && lane === 1) expect(ms).toBe(high.ms);
          else expect(ms).toBeGreaterThanOrEqual(before.nowMs + 95_000);
          if (id !== 1) expect(ms).toBeLessThanOrEqual(after.nowMs + 95_000);
        }
      }
      expect(await store.write(writeTo(rowsOf(before)[0]!))).toBe(false);
      expect(await store.write(writeTo(rowsOf(after)[0]!))).toBe(true);
    });

    it('says in words what can lose an acknowledged commit', async () => {
      const store = await prepared();
      for (const warning of await store.durabilityWarnings()) expect(warning).toMatch(/^\w+ is \w+: /);
    });

    it('remembers a layout once, whoever notes it', async () => {
      const store = await prepared();
      const noted = ['1@1704067200000:t41.w10.b1.s11', '1000@1672531200:t33.w10.b1.s18.e1=0'] as const;
      await Promise.all([...noted, ...noted].map((each) => bench.open().rememberLayout(each)));
      await store.rememberLayout(noted[0]);
      expect([...(await store.readTable()).layouts].sort()).toEqual([...noted].sort());
    });

    it('keeps everything when the connection is closed and another one opened', async () => {
      const store = await prepared();
      await store.write(writeTo(await rowOf(store, 1)));
      await store.rememberLayout('1@1704067200000:t41.w10.b1.s11');
      const { rows, layouts } = await store.readTable();
      await store.close();
      await store.close();
      expect(await bench.open().readTable()).toMatchObject({ rows, layouts });
    });

    it('answers the next call after a call was abandoned, at any moment', async () => {
      await prepared();
      for (const turns of [0, 1, 2, 5, 20]) {
        const store = bench.open();
        const calls = [store.readTable(), store.readRow(1)].map((call) =>
          call.then(() => 'answered').catch(() => 'rejected'),
        );
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        store.abandon();
        store.abandon();
        for (const call of calls) expect(await call).toMatch(/answered|rejected/);
        expect(await idsOf(store)).toEqual([1, 2, 3]);
      }
    });

    it('may be abandoned and closed without ever having been used', async () => {
      const store = bench.open();
      store.abandon();
      await store.close();
    });
  });
}
