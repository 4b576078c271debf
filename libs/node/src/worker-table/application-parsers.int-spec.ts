import pg from 'pg';
import { openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { overBothPorts } from '../../../../test/support/stores/sql-database.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';

/** Of integers, texts and names: whatever our statements select. */
const TYPES = [18, 19, 20, 21, 23, 25, 26, 1042, 1043, 1700];

/** What applications set for the whole driver, and what stood there before. */
const SETTINGS: readonly { readonly what: string; set(): () => void }[] = [
  { what: 'int8 as an object', set: () => parsers([20], (value) => ({ big: value })) },
  { what: "'' as null", set: () => parsers([25, 1043], (value) => (value === '' ? null : value)) },
  { what: 'nothing as it is', set: () => parsers(TYPES, () => Symbol('of the application')) },
  { what: 'int8 as a BigInt', set: () => parsers([20], (value) => BigInt(value)) },
  {
    what: 'binary answers',
    set: () => {
      const { defaults } = pg as unknown as { defaults: { binary: boolean } };
      defaults.binary = true;
      return () => void (defaults.binary = false);
    },
  },
];

function parsers(types: readonly number[], parse: (value: string) => unknown): () => void {
  const before = types.map((type) => pg.types.getTypeParser(type, 'text') as (value: string) => unknown);
  for (const type of types) pg.types.setTypeParser(type, parse);
  return () => types.forEach((type, index) => pg.types.setTypeParser(type, before[index]!));
}

overBothPorts(() => {
  describe("Connections of ours beside an application's settings of the whole driver", () => {
    let database: TestDatabase;
    let restore: () => void;

    beforeEach(async () => {
      database = await testDatabase('postgres');
    });

    afterEach(async () => {
      restore();
      await database.drop();
    });

    it.each(SETTINGS)('read rows and numbers as the server writes them: $what', async ({ set }) => {
      restore = set();
      const store = openStore(database.options);
      await store.prepare({ min: 1, max: 3 });
      expect(await takeRow(store, 1)).toBe(true);
      const { rows, nowMs } = await store.readTable();
      expect(rows.map(({ id, token }) => [id, token])).toEqual(
        expect.arrayContaining([
          [1, 'a1'],
          [2, ''],
        ]),
      );
      expect(Math.abs(nowMs - Date.now())).toBeLessThan(600_000);
      const sample = await store.readSample({ workers: { min: 1, max: 3 }, from: 1, atMost: 3, graceMs: 0 });
      expect(sample).toMatchObject({ total: 3, live: 1, foreign: 0 });
      expect(await store.durabilityWarnings()).toEqual([]);
      await store.close();
      const numbers = openSegmentStore(database.options);
      await numbers.prepare();
      expect(await numbers.source('orders').reserve({ count: 5, above: 0n })).toMatchObject({ first: 1n, last: 5n });
      await numbers.close();
    });
  });
});
