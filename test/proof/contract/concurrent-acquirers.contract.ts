import { NoFreeWorkerError } from '@raindrop/core';
import type { WorkerSample, WorkerStore } from '@raindrop/core';
import { until } from '../../support/until.js';
import { startTogether } from './start-together.js';

/** One empty database. */
export interface AcquirersBench {
  /** One more store on the same table, as another process would have it. */
  open(): WorkerStore;
  /** Removes the database. */
  dispose(): Promise<void>;
}

const IDS_EACH = 1_000;
/** Lease and grace by default. */
const LONGEST_HOLD_MS = 120_000;

/** What a crowd of processes may rely on, whatever the worker rows live in. */
export function describeConcurrentAcquirers(
  name: string,
  make: () => Promise<AcquirersBench>,
  { acquirers, rows }: { readonly acquirers: number; readonly rows: number } = { acquirers: 64, rows: 40 },
): void {
  describe(`${acquirers} processes that start at once on ${name}`, () => {
    let bench: AcquirersBench;

    beforeEach(async () => {
      bench = await make();
    });

    afterEach(async () => {
      await bench.dispose();
    });

    /** One store each; none of them may write before all have seen the table. */
    function openAll(): WorkerStore[] {
      const stores = Array.from({ length: acquirers }, () => bench.open());
      meetAfterReading(stores);
      return stores;
    }

    /** The rows of the table that are free, by number. */
    async function freeRows(): Promise<number[]> {
      const store = bench.open();
      const { rows: all } = await store.readTable();
      await store.close();
      return ascending(all.filter(({ token }) => token === '').map(({ id }) => id));
    }

    it('on an empty database each get a row of their own, repeat no ID, and give their rows back', async () => {
      const crowd = await startTogether(openAll(), { min: 1, max: acquirers });
      const ids = crowd.issue(IDS_EACH);
      await crowd.close();
      expect(crowd.refusals).toEqual([]);
      expect(ascending(crowd.workerIds)).toEqual(upTo(acquirers));
      expect(ids).toHaveLength(acquirers * IDS_EACH);
      expect(repeatsAmong(ids)).toBe(0);
      expect(await freeRows()).toEqual(upTo(acquirers));
    });

    it('on fewer rows fill these, and the others are told who stands in the way', async () => {
      const before = Date.now();
      const crowd = await startTogether(openAll(), { min: 1, max: rows });
      const ids = crowd.issue(IDS_EACH);
      await crowd.close();
      expect(ascending(crowd.workerIds)).toEqual(upTo(rows));
      expect(crowd.refusals).toHaveLength(acquirers - rows);
      for (const refusal of crowd.refusals) {
        expect(refusal).toBeInstanceOf(NoFreeWorkerError);
        const { census } = refusal as NoFreeWorkerError;
        expect(census).toMatchObject({ total: rows, live: rows, foreign: 0, ahead: 0, contended: 0 });
        expect(census.freeAtMs).toBeGreaterThan(before);
        expect(census.freeAtMs).toBeLessThanOrEqual(Date.now() + LONGEST_HOLD_MS);
      }
      expect(repeatsAmong(ids)).toBe(0);
      expect(await freeRows()).toEqual(upTo(rows));
    });

    it('share rows and repeat IDs when writes look at neither version nor token: the control', async () => {
      // On a busy machine one may come after the other, find what the other has written, or begin in a later tick: then
      // they start again.
      const repeated = await until('careless writes to meet', async () => {
        const crowd = await startTogether(openAll().map(makeCareless), { min: 1, max: acquirers });
        const ids = crowd.issue(IDS_EACH);
        await crowd.close();
        const repeats = repeatsAmong(ids);
        return repeats > IDS_EACH / 2 && repeats;
      });
      expect(repeated).toBeGreaterThan(IDS_EACH / 2);
    });
  });
}

/** Holds back what the stores read first until all of them have read: then everybody knows the same and wants the same. */
function meetAfterReading(stores: readonly WorkerStore[]): void {
  let missing = stores.length;
  let open!: () => void;
  const barrier = new Promise<void>((resolve) => (open = resolve));
  for (const store of stores) {
    const [readSample, readPrepared] = [store.readSample.bind(store), store.readPrepared?.bind(store)];
    let hasMet = false;
    const met = async (sample: WorkerSample): Promise<WorkerSample> => {
      if (hasMet) return sample;
      hasMet = true;
      if (--missing === 0) open();
      await barrier;
      return sample;
    };
    store.readSample = async (request) => met(await readSample(request));
    if (readPrepared === undefined) continue;
    store.readPrepared = async (workers, request) => {
      const sample = await readPrepared(workers, request);
      return sample && met(sample);
    };
  }
}

/** Makes a store write a row whatever has become of it since it was read. */
function makeCareless(store: WorkerStore): WorkerStore {
  const write = store.write.bind(store);
  store.write = async (change) => {
    const { row } = await store.readRow(change.id);
    return write({ ...change, expected: row! });
  };
  return store;
}

function ascending(numbers: readonly number[]): number[] {
  return [...numbers].sort((a, b) => a - b);
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

function repeatsAmong(ids: readonly bigint[]): number {
  return ids.length - new Set(ids).size;
}
