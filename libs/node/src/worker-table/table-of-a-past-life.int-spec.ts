import { DataSource } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import type { SqlWorkerStore } from './sql-worker-store.js';

const REACH_MS = 218_000;
const WORKERS = { min: 1, max: 2 };
const TABLE = 'soc_raindrop_worker';
const MONTH_MS = 30 * 86_400_000;

interface Inside {
  readonly server: {
    readonly guard: { believed: object };
    addWhatItLacks(server: { term: string; failoverNumber: number }): Promise<unknown>;
  };
}

describe.each(databaseKinds)('A worker table on %s that is put back from its last life', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const open: SqlWorkerStore[] = [];

  const opened = async (): Promise<SqlWorkerStore> => {
    const store = openStore(database.options, { reachMs: REACH_MS });
    open.push(store);
    await store.prepare(WORKERS);
    await store.readTable();
    return store;
  };

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(open.splice(0).map((each) => each.close()));
    await admin.destroy();
    await database.drop();
  });

  // A database that tells no term, and no record yet: the backup has the record of a loss of a month ago.
  if (kind === 'sqlite') {
    it('has lost what the process was written since, where it had no record when the process looked', async () => {
      const process = await opened();
      expect(await takeRow(process, 1, 'first')).toBe(true);
      expect(await takeRow(process, 1, 'second')).toBe(true);
      await admin.query(
        `UPDATE ${TABLE} SET version = version - 1, own_version = own_version - 1, token = 'first' WHERE id = 1`,
      );
      const then = Date.now() - MONTH_MS;
      await admin.query(
        `INSERT INTO ${TABLE}_state (id, format, term, epoch, lost_at_ms, reach_ms) VALUES (1, 1, '', ${then}, ${then}, ${REACH_MS})`,
      );
      expect((await process.readRow(1)).row).toMatchObject({ token: 'first' });
      const { nowMs, barredUntilMs = 0 } = await process.readTable();
      expect(barredUntilMs - nowMs).toBeGreaterThan(REACH_MS - 5_000);
    });
  } else {
    // All of it was dropped, and a new process has made it anew, in the millisecond in which the old one has looked.
    it('has lost all where a new process records it for the first at the same millisecond', async () => {
      const process = await opened();
      expect(await takeRow(process, 1, 'first')).toBe(true);
      expect(await takeRow(process, 1, 'second')).toBe(true);
      const reset = async (epoch: number): Promise<void> => {
        await admin.query(`UPDATE ${TABLE} SET version = 1, own_version = 1, token = '', code = '' WHERE id = 1`);
        await admin.query(`UPDATE ${TABLE} SET version = 2, own_version = 2, token = 'new', code = 'new' WHERE id = 2`);
        const term = (await admin.query<{ term: string }[]>(`SELECT term FROM ${TABLE}_state`))[0]!.term;
        await admin.query(`UPDATE ${TABLE}_state SET epoch = ${epoch}, lost_at_ms = 0 WHERE term = '${term}'`);
      };
      const inside = (process as unknown as Inside).server;
      const saved = await admin.query<{ term: string; reach_ms: number }[]>(`SELECT * FROM ${TABLE}_state`);
      await admin.query(`DELETE FROM ${TABLE}_state`);
      const add = inside.addWhatItLacks.bind(inside);
      jest.spyOn(inside, 'addWhatItLacks').mockImplementationOnce(async (server) => {
        const { term, reach_ms: reach } = saved[0]!;
        await admin.query(
          `INSERT INTO ${TABLE}_state (id, format, term, epoch, lost_at_ms, reach_ms) VALUES (1, 1, '${term}', ${server.failoverNumber}, 0, ${reach})`,
        );
        await reset(server.failoverNumber);
        return add(server);
      });
      await process.readRow(1);
      const { nowMs, barredUntilMs = 0 } = await process.readTable();
      expect(barredUntilMs - nowMs).toBeGreaterThan(REACH_MS - 5_000);
    });
  }

  // The process was suspended for an hour. Meanwhile an operator has fenced, another process has used its row for an hour,
  // and only the rows were put back.
  it('has lost what is missing where a fence an hour ago covers all that the process was granted', async () => {
    const process = await opened();
    expect(await takeRow(process, 1, 'first')).toBe(true);
    expect(await takeRow(process, 1, 'second')).toBe(true);
    const quoted = 'id, version, own_version, token, odo0_ms, odo0_seq, odo1_ms, odo1_seq';
    await admin.query(`CREATE TABLE backup_rows AS SELECT ${quoted} FROM ${TABLE} WHERE id = 1`);
    await admin.query(`UPDATE backup_rows SET version = version - 1, own_version = own_version - 1, token = 'first'`);
    const operator = await opened();
    await operator.fence(fenceRequest(155_000));
    // All that was an hour ago.
    await admin.query(`UPDATE ${TABLE}_state SET fenced_until_ms = fenced_until_ms - 3600000`);
    const { guard } = (process as unknown as Inside).server;
    const [seenAtMs, grantedMs] = [Date.now() - 3_610_000, Date.now() - 3_545_000];
    guard.believed = { ...guard.believed, seenAtMs, grantedMs };
    const other = await opened();
    expect(await takeRow(other, 1, 'other')).toBe(true);
    await other.close();
    const set = ['version', 'own_version', 'token', 'odo0_ms', 'odo0_seq', 'odo1_ms', 'odo1_seq'].map(
      (column) => `${column} = (SELECT ${column} FROM backup_rows)`,
    );
    await admin.query(`UPDATE ${TABLE} SET ${set.join(', ')} WHERE id = 1`);
    await admin.query('DROP TABLE backup_rows');
    expect((await process.readRow(1)).row).toMatchObject({ token: 'first' });
    const { nowMs, barredUntilMs = 0 } = await process.readTable();
    expect(barredUntilMs - nowMs).toBeGreaterThan(REACH_MS - 5_000);
  });
});
