import { CorruptWorkerKeyError } from '../../../libs/node/src/key-values/worker-record.js';
import type { KeyWorkerStore } from '../../../libs/node/src/key-values/key-worker-store.js';
import { takeRow } from '../../support/stores/open-store.js';
import { fenceRequest } from '../../support/stores/fence-request.js';

const ROWS = { min: 1, max: 3 };
const AHEAD_MS = 95_000;

/** Keys of workers on servers, of which an operator deletes one. */
export interface LosingBench {
  open(): KeyWorkerStore;
  deleteFence(): Promise<unknown>;
  dispose(): Promise<void>;
}

/** What stores of keys do when the key that counts the fences was deleted. */
export function describeLostFences(name: string, makeBench: () => LosingBench): void {
  describe(`Fences on ${name} whose key was deleted`, () => {
    let bench: LosingBench;

    beforeEach(() => {
      bench = makeBench();
    });

    afterEach(() => bench.dispose());

    const prepared = async (): Promise<KeyWorkerStore> => {
      const store = bench.open();
      await store.prepare(ROWS);
      return store;
    };

    it('fence every row the next time, also one that was written after more fences than are counted anew', async () => {
      const store = await prepared();
      for (let fences = 0; fences < 3; fences++) await store.fence(fenceRequest(1_000));
      expect(await takeRow(store, 1, 'mine')).toBe(true);
      const { row: held } = await store.readRow(1);
      await bench.deleteFence();
      const before = Date.now();
      expect(await bench.open().fence(fenceRequest(AHEAD_MS))).toBe(3);
      const { rows } = await (await prepared()).readTable();
      expect(rows.map(({ token }) => token)).toEqual(['', '', '']);
      const lowest = Math.min(...rows.flatMap(({ odometers }) => odometers.map(({ ms }) => ms)));
      expect(lowest).toBeGreaterThanOrEqual(before + AHEAD_MS);
      expect((await store.readRow(1)).row!.version).toBeGreaterThan(held!.version);
      expect(await takeRow(store, 1)).toBe(true);
      expect((await store.readTable()).rows).toHaveLength(3);
    });

    it('let a holder go on, and no process start before the next fence', async () => {
      const holder = await prepared();
      await holder.fence(fenceRequest(AHEAD_MS));
      expect(await takeRow(holder, 1)).toBe(true);
      await bench.deleteFence();
      // Row 2 was fenced by that key alone. What a start adds, and what the holder writes, does not hide the loss.
      const starting = await prepared();
      for (let renewals = 0; renewals < 2; renewals++) {
        expect(await takeRow(holder, 1, `renewed ${renewals}`)).toBe(true);
        const refusal: unknown = await starting.readTable().catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(CorruptWorkerKeyError);
        expect(refusal).toMatchObject({
          retryable: false,
          message: expect.stringMatching(/fence .*fenceWorkers\(\)/) as string,
        });
      }
      await bench.open().fence(fenceRequest(AHEAD_MS));
      const { rows, nowMs } = await starting.readTable();
      expect(rows.every(({ token, odometers }) => token === '' && odometers[0].ms > nowMs)).toBe(true);
    });
  });
}
