import pg from 'pg';
import { DataSource } from 'typeorm';
import { openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { overBothPorts } from '../../../../test/support/stores/sql-database.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';

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

const BYTES = {
  mariadb: ['ALTER TABLE soc_raindrop_worker_layout MODIFY fingerprint varbinary(160) NOT NULL'],
  mysql: ['ALTER TABLE soc_raindrop_worker_layout MODIFY fingerprint varbinary(160) NOT NULL'],
  postgres: [
    "ALTER TABLE soc_raindrop_worker_layout ALTER fingerprint TYPE bytea USING convert_to(fingerprint, 'UTF8')",
  ],
  sqlite: ['UPDATE soc_raindrop_worker_layout SET fingerprint = CAST(fingerprint AS BLOB)'],
};

describe.each(databaseKinds)('a remembered layout that %s gives as bytes', (kind) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase(kind);
  });

  afterEach(() => database.drop());

  // Left out without a word, it would let a layout in that repeats its IDs.
  it('is read or refused, never left out', async () => {
    const store = openStore(database.options);
    await store.prepare({ min: 1, max: 1 });
    await store.rememberLayout('other');
    const admin = await new DataSource(database.options).initialize();
    for (const sql of BYTES[kind]) await admin.query(sql);
    await admin.destroy();
    const request = { workers: { min: 1, max: 1 }, from: 1, atMost: 1, graceMs: 0 };
    const looks = [() => store.readTable(), () => store.readSample(request)];
    for (const look of looks) {
      const layouts = await look().then(
        (found) => found.layouts,
        () => ['refused'],
      );
      expect(layouts).toHaveLength(1);
    }
    await store.close();
  });
});

const LAYOUT = '1000@1767225600:t33.w10.b1.s18.e1=0';

const RANGE = { min: 1, max: 3 };

/** What lets an UPDATE change nothing without a word, and no SELECT tells. */
const SILENCERS = [
  {
    what: 'row level security without a policy for UPDATE',
    sql: [
      'ALTER TABLE soc_raindrop_worker ENABLE ROW LEVEL SECURITY',
      'CREATE POLICY seen ON soc_raindrop_worker FOR SELECT USING (true)',
    ],
  },
  {
    what: 'a trigger that returns NULL',
    sql: [
      'CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$',
      'CREATE TRIGGER silent BEFORE UPDATE ON soc_raindrop_worker FOR EACH ROW EXECUTE FUNCTION nothing()',
    ],
  },
  { what: 'a rule', sql: ['CREATE RULE silent AS ON UPDATE TO soc_raindrop_worker DO INSTEAD NOTHING'] },
];

describe('A table on PostgreSQL whose UPDATEs change nothing', () => {
  it.each(SILENCERS)('by $what is refused in words, by a start and by what tries it', async ({ sql }) => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    const store = openStore(database.options);
    await store.prepare(RANGE);
    await store.tryStart(RANGE, LAYOUT);
    for (const each of sql) await admin.query(each);
    const role = `plain_${process.pid}_${SILENCERS.findIndex((each) => each.sql === sql)}`;
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    await admin.query(`GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO ${role}`);
    const plain = openStore({ ...database.options, username: role, password: 'x' } as typeof database.options);
    const refusal = { errorCode: 'DATABASE_REFUSED', refusal: 'rights', retryable: false };
    await expect(takeRow(plain, 1)).rejects.toMatchObject(refusal);
    await expect(takeRow(plain, 1)).rejects.toThrow('row level security');
    await expect(plain.tryStart(RANGE, LAYOUT)).rejects.toMatchObject(refusal);
    await Promise.all([store.close(), plain.close()]);
    await admin.query(`DROP OWNED BY ${role}`);
    await admin.query(`DROP ROLE ${role}`);
    await admin.destroy();
    await database.drop();
  });

  it.each([
    ['UPDATE', 'soc_raindrop_worker_state', 'an UPDATE does not change the state in soc_raindrop_worker_state'],
    ['INSERT', 'soc_raindrop_worker_state', 'a SELECT from soc_raindrop_worker_state does not find the state'],
    ['INSERT', 'soc_raindrop_worker_layout', 'a SELECT from soc_raindrop_worker_layout does not find the layout'],
    ['INSERT', 'soc_raindrop_worker', 'a SELECT from soc_raindrop_worker does not find the row of worker 2'],
  ])('by a trigger for %s on %s is refused by what tries a start', async (command, table, message) => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    const prepared = openStore(database.options);
    await prepared.prepare(RANGE);
    await prepared.close();
    const store = openStore(database.options);
    await admin.query('DELETE FROM soc_raindrop_worker WHERE id = 2');
    if (command === 'INSERT' && table.endsWith('state')) await admin.query(`DELETE FROM ${table}`);
    await admin.query('CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$');
    await admin.query(`CREATE TRIGGER silent BEFORE ${command} ON ${table} FOR EACH ROW EXECUTE FUNCTION nothing()`);
    await expect(store.tryStart(RANGE, LAYOUT)).rejects.toThrow(message);
    await store.close();
    await admin.destroy();
    await database.drop();
  });
});
