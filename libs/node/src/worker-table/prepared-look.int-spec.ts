import { DataSource } from 'typeorm';
import type { SampleRequest, WorkerRow } from '@raindrop/core';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import type { SqlWorkerStore } from './sql-worker-store.js';

const TABLE = 'soc_raindrop_worker';
const WORKERS = { min: 1, max: 3 };
const REQUEST: SampleRequest = { workers: WORKERS, from: 2, atMost: 16, graceMs: 60_000 };

/** What makes a table one that has to be prepared, or recorded, first. */
const CAUSES = {
  'its row of a worker is missing': `DELETE FROM ${TABLE} WHERE id = 3`,
  'it lacks a column of the original': `ALTER TABLE ${TABLE} DROP COLUMN time_unit`,
  'it lacks a column of ours': `ALTER TABLE ${TABLE} DROP COLUMN own_version`,
  'its layouts lack a column': `ALTER TABLE ${TABLE}_layout DROP COLUMN first_seen_ms`,
  'its state lacks a column': `ALTER TABLE ${TABLE}_state DROP COLUMN served_alone`,
  'its layouts are missing': `DROP TABLE ${TABLE}_layout`,
  'its state is missing': `DROP TABLE ${TABLE}_state`,
  'it is missing': `DROP TABLE ${TABLE}`,
  'its rows were made anew': `UPDATE ${TABLE} SET version = 1, own_version = 1, token = '', code = ''`,
};

/** SQLite's file has no server to be recorded. */
const CAUSES_OF_SERVERS = {
  'no server is recorded': `DELETE FROM ${TABLE}_state`,
  'another server is recorded': `UPDATE ${TABLE}_state SET term = 'another'`,
  'a shorter reach is recorded': `UPDATE ${TABLE}_state SET reach_ms = 1`,
};

const EMPTIED = { postgres: 'SET UNLOGGED', mariadb: 'ENGINE=MEMORY', mysql: 'ENGINE=MEMORY' };

describe.each(databaseKinds)('The one look of a start at a worker table on %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const opened: SqlWorkerStore[] = [];

  const open = (): SqlWorkerStore => {
    const store = openStore(database.options, { reachMs: 218_000 });
    opened.push(store);
    return store;
  };

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
    const first = open();
    await first.prepare(WORKERS);
    await first.readTable();
    expect(await takeRow(first, 1)).toBe(true);
    await first.rememberLayout('a layout');
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await admin.destroy();
    await database.drop();
  });

  it('tells what a sample of the prepared table tells, and its row can be written', async () => {
    const [store, other] = [open(), open()];
    const look = await store.readPrepared(WORKERS, REQUEST);
    await other.prepare(WORKERS);
    const nowMs: unknown = expect.any(Number);
    expect(look).toEqual({ ...(await other.readSample(REQUEST)), nowMs });
    expect(look?.rows.map(({ id }) => id)).toEqual([2, 3]);
    expect(await takeRow(store, look!.rows[0]!.id)).toBe(true);
  });

  const tables = ['', '_layout', '_state'];
  const changes = [
    { what: 'the table was dropped, and made anew', dropped: tables.slice(0, 1) },
    { what: 'the row was marked deleted', sql: `UPDATE ${TABLE} SET del_flag = 1` },
    { what: 'the rows were restored from an earlier moment', sql: `UPDATE ${TABLE} SET version = version - 1` },
    { what: 'another process was faster', sql: `UPDATE ${TABLE} SET version = version + 1, token = 'theirs'` },
    { what: 'it was fenced', fenced: true },
  ];
  /** No failover of SQLite's file is recorded. */
  const changesOfServers = [
    { what: 'all tables were dropped, and made anew', dropped: tables },
    { what: 'another process has recorded a loss', sql: `UPDATE ${TABLE}_state SET epoch = epoch + 1` },
  ];
  it.each<(typeof changes)[number]>([...changes, ...(kind === 'sqlite' ? [] : changesOfServers)])(
    'shows a row that is not written where $what since',
    async ({ sql, dropped = [], fenced = false }) => {
      const [store, other] = [open(), open()];
      const row = (await store.readPrepared(WORKERS, REQUEST))!.rows[0]!;
      for (const suffix of dropped) await admin.query(`DROP TABLE ${TABLE}${suffix}`);
      if (sql !== undefined) await admin.query(sql);
      if (dropped.length > 0) {
        await other.prepare(WORKERS);
        await other.readTable();
      }
      if (fenced) await other.fence(fenceRequest(218_000));
      expect(await write(store, row)).toBe(false);
    },
  );

  const causes = { ...CAUSES, ...(kind === 'sqlite' ? {} : CAUSES_OF_SERVERS) };
  it.each(Object.entries(causes))('tells nothing, and changes nothing, where %s', async (_, cause) => {
    await admin.query(cause);
    const before = await contents();
    expect(await open().readPrepared(WORKERS, REQUEST)).toBeUndefined();
    expect(await contents()).toEqual(before);
  });

  it('is as strict as a look at the table', async () => {
    await admin.query(`UPDATE ${TABLE} SET lane = 7 WHERE id = 2`);
    await expect(open().readPrepared(WORKERS, REQUEST)).rejects.toMatchObject({ errorCode: 'CORRUPT_WORKER_ROW' });
    await admin.query(`DELETE FROM ${TABLE}_state`);
    await admin.query(`INSERT INTO ${TABLE}_state (id, format) VALUES (1, 2)`);
    await expect(open().readPrepared(WORKERS, REQUEST)).rejects.toMatchObject({ errorCode: 'TABLE_FORMAT' });
  });

  if (kind !== 'sqlite') {
    it.each(['', '_layout', '_state'])('tells nothing where a crash would empty the table%s', async (suffix) => {
      await admin.query(`ALTER TABLE ${TABLE}${suffix} ${EMPTIED[kind]}`);
      expect(await open().readPrepared(WORKERS, REQUEST)).toBeUndefined();
    });
  }

  /** As a start does: it reads the row no second time. */
  const write = (store: SqlWorkerStore, { id, version, token, odometers }: WorkerRow): Promise<boolean> =>
    store.write({
      id,
      expected: { version, token },
      odometers,
      token: 'ours',
      holder: 'test',
      layout: 'a layout',
      lane: 0,
      code: 'test',
      timeUnit: 1,
      leaseMs: 60_000,
    });

  /** The rows of every table that is there. */
  const contents = (): Promise<unknown[]> =>
    Promise.all(
      ['', '_layout', '_state'].map((suffix) =>
        admin.query<unknown>(`SELECT * FROM ${TABLE}${suffix}`).catch(() => 'missing'),
      ),
    );
});
