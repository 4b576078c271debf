import type { LeaseOptions } from '@raindrop/core';
import { DataSource } from 'typeorm';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import {
  originalFreeSql,
  originalInsertSql,
  originalSameCodeSql,
  originalTableSql,
  originalTakeSql,
} from '../../../../test/support/stores/original-table.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { startMariadb } from '../../../../test/support/servers/private-servers.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import type { IdService } from './id-service.js';
import { openIdService } from './open-id-service.js';
import { workerIdentity } from '../workers/open-worker.js';
import type { SqlWorkerStore, SqlWorkerStoreOptions } from '../worker-table/sql-worker-store.js';
import { onFreshDatabase } from '../../../../test/support/stores/fresh-database.js';

const HOUR = 3_600_000;
const RANGE = { min: 1, max: 5 };
const LAYOUT = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 } as const;

/** How the original's driver writes a moment in a zone. */
function written(ms: number, offsetMs = 0): string {
  return new Date(ms + offsetMs).toISOString().slice(0, 19).replace('T', ' ');
}

describe.each(databaseKinds)("a table of the original's on %s", (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const stores = onFreshDatabase(kind, async (...given) => {
    [database, admin] = given;
    for (const sql of [...originalTableSql(kind), originalInsertSql([1, 2, 3])]) await admin.query(sql);
  });

  function open(options: Partial<SqlWorkerStoreOptions> = {}): SqlWorkerStore {
    const store = openStore(database.options, options);
    stores.push(store);
    return store;
  }

  async function startService(lease: LeaseOptions, work: (ids: IdService) => Promise<void>): Promise<void> {
    const ids = await openIdService({ ...LAYOUT, ...lease, dbConfig: database.options });
    try {
      await work(ids);
    } finally {
      await ids.close();
    }
  }

  const columns = async (): Promise<string[]> => {
    const runner = admin.createQueryRunner();
    try {
      return (await runner.getTable('soc_raindrop_worker'))!.columns.map(({ name }) => name);
    } finally {
      await runner.release();
    }
  };

  it('is refused while its programs may run, and not touched', async () => {
    await admin.query(originalTakeSql(2, written(Date.now())));
    const before = await columns();
    const refusal = { errorCode: 'FOREIGN_ROWS', workerIds: [2] };
    await expect(open().prepare(RANGE)).rejects.toMatchObject(refusal);
    await expect(startService({}, () => Promise.resolve())).rejects.toMatchObject(refusal);
    expect(await columns()).toEqual(before);
    expect(await admin.query<object[]>('SELECT id FROM soc_raindrop_worker')).toHaveLength(3);
    // The same with our columns, from a time when it was ours alone.
    await open({ adoptForeign: true }).prepare({ min: 1, max: 3 });
    await expect(open().prepare(RANGE)).rejects.toMatchObject(refusal);
    expect(await admin.query<object[]>('SELECT id FROM soc_raindrop_worker')).toHaveLength(3);
    // A row that is marked as deleted has no holder.
    await admin.query('UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = 2');
    await open().prepare(RANGE);
    expect(await admin.query<object[]>('SELECT id FROM soc_raindrop_worker')).toHaveLength(5);
  });

  it('with consent gets our columns, no rows, and a code that the original never writes', async () => {
    await admin.query(originalTakeSql(2, written(Date.now())));
    await startService({ sharedWithOriginal: true }, async (ids) => {
      ids.nextId();
      const { workerId } = ids.status() as { workerId: number };
      expect([1, 3]).toContain(workerId);
      expect(await admin.query<object[]>('SELECT id FROM soc_raindrop_worker')).toHaveLength(3);
      const { code } = workerIdentity({ servicePort: 0, unitMs: 1_000, hashCode: false });
      expect(await admin.query<object[]>(originalSameCodeSql(code))).toEqual([]);
      const { row } = await open({ sharedWithOriginal: true }).readRow(workerId);
      expect(row!.code).toBe(`${code}#raindrop`);
      // Two minutes ago by the original's clock, be it 30 s ahead: our row is not among those that it takes.
      const free = await admin.query<{ id: number | string }[]>(originalFreeSql(written(Date.now() - 90_000)));
      expect(free.map(({ id }) => Number(id))).toEqual([1, 3].filter((id) => id !== workerId));
    });
  });

  it("is the original's to create", async () => {
    await admin.query('DROP TABLE soc_raindrop_worker');
    const wrong = {
      errorCode: 'CONFIGURATION',
      message: expect.stringContaining('let the original create it') as string,
    };
    await expect(startService({ sharedWithOriginal: true }, () => Promise.resolve())).rejects.toMatchObject(wrong);
  });
});

describe('the time zone of a MariaDB that is shared with the original', () => {
  let server: PrivateServer;
  let database: TestDatabase;
  let admin: DataSource;

  beforeAll(async () => {
    server = await startMariadb();
    database = await testDatabase('mariadb', server.url);
    admin = await new DataSource(database.options).initialize();
    for (const sql of [...originalTableSql('mariadb'), originalInsertSql([1, 2])]) await admin.query(sql);
  });

  afterAll(async () => {
    await admin.destroy();
    await server.stop();
  });

  const openIn = (foreignTimeZone: string): SqlWorkerStore =>
    openStore(database.options, { sharedWithOriginal: true, foreignTimeZone });

  it.each([
    { server: '+00:00', ours: '+00:00', zones: undefined },
    { server: '+08:00', ours: '+08:00', zones: undefined },
    { server: '-05:30', ours: '-05:30', zones: undefined },
    { server: '+08:00', ours: '+00:00', zones: ['+08:00'] },
    { server: '-05:00', ours: '+00:00', zones: ['-05:00'] },
  ])('$server is compared with ours, $ours', async ({ server: zone, ours, zones }) => {
    await admin.query(`SET GLOBAL time_zone = '${zone}'`);
    const store = openIn(ours);
    const checked = store.checkForeignTimes();
    if (zones === undefined) await checked;
    else await expect(checked).rejects.toMatchObject({ errorCode: 'FOREIGN_TIME_ZONE', serverZones: zones });
    await store.close();
  });

  it('is refused when it has summer time', async () => {
    const changes = Array.from({ length: 40 }, (_, half) => [Date.UTC(2020, 3 + 6 * half, 1), (half + 1) % 2] as const);
    for (const sql of [
      "INSERT INTO mysql.time_zone VALUES (900, 'N')",
      "INSERT INTO mysql.time_zone_name VALUES ('Test/Summer', 900)",
      "INSERT INTO mysql.time_zone_transition_type VALUES (900, 0, 3600, 0, 'CET'), (900, 1, 7200, 1, 'CEST')",
      `INSERT INTO mysql.time_zone_transition VALUES ${changes.map(([ms, type]) => `(900, ${ms / 1_000}, ${type})`).join(', ')}`,
      "SET GLOBAL time_zone = 'Test/Summer'",
    ]) {
      await admin.query(sql);
    }
    for (const ours of ['+01:00', '+02:00']) {
      const store = openIn(ours);
      await expect(store.checkForeignTimes()).rejects.toMatchObject({
        errorCode: 'FOREIGN_TIME_ZONE',
        serverZones: expect.arrayContaining(['+01:00', '+02:00']) as string[],
        message: expect.stringContaining('summer time') as string,
      });
      await store.close();
    }
  });

  it.each([
    { ours: '+08:00', isTaken: false },
    // As it was before, and is refused now: the living row looks eight hours old.
    { ours: '+00:00', isTaken: true },
  ])('decides whether the original takes our living row: $ours at +08:00', async ({ ours, isTaken }) => {
    await admin.query(`SET GLOBAL time_zone = '+08:00'`);
    const store = openIn(ours);
    await store.prepare(RANGE);
    expect(await takeRow(store, 1)).toBe(true);
    const free = await admin.query<{ id: string }[]>(originalFreeSql(written(Date.now() - 120_000, 8 * HOUR)));
    expect(free.map(({ id }) => Number(id)).includes(1)).toBe(isTaken);
    await store.close();
  });
});
