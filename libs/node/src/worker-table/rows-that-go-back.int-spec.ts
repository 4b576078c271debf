import { DataSource } from 'typeorm';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import type { SqlWorkerStore, SqlWorkerStoreOptions } from './sql-worker-store.js';

const REACH_MS = 218_000;
const WORKERS = { min: 1, max: 2 };
const TABLE = 'soc_raindrop_worker';
const DAY_MS = 86_400_000;

interface Known {
  readonly server: { readonly guard: { believed: object } };
}

// What a process judges by is in the core's failover-guard.ts.
describe.each(databaseKinds)('A worker table on %s that goes back under processes that run', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const open: SqlWorkerStore[] = [];

  const opened = async (options: Partial<SqlWorkerStoreOptions> = {}): Promise<SqlWorkerStore> => {
    const store = openStore(database.options, { reachMs: REACH_MS, ...options });
    open.push(store);
    await store.prepare(WORKERS);
    await store.readTable();
    return store;
  };

  const state = async (): Promise<Record<string, number>> => {
    const [row] = await admin.query<Record<string, unknown>[]>(`SELECT * FROM ${TABLE}_state`);
    const names = ['epoch', 'lost_at_ms', 'fenced_until_ms', 'alone_lost_until_ms'];
    return Object.fromEntries(names.map((name) => [name, Number(row?.[name] ?? 0)]));
  };

  /** How long all rows are barred from now on, ms; 0 for not at all. */
  const barOf = async (store: SqlWorkerStore): Promise<number> => {
    const { nowMs, barredUntilMs = 0 } = await store.readTable();
    return Math.max(0, barredUntilMs - nowMs);
  };

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()));
    await admin.destroy();
    await database.drop();
  });

  /** A row that goes back to the write before the last one. */
  async function wentBack(options: Partial<SqlWorkerStoreOptions>): Promise<[SqlWorkerStore, SqlWorkerStore]> {
    const [process, other] = [await opened(options), await opened(options)];
    expect(await takeRow(process, 1, 'first')).toBe(true);
    expect(await takeRow(process, 1, 'second')).toBe(true);
    await other.readTable();
    expect(await barOf(process)).toBe(0);
    await admin.query(
      `UPDATE ${TABLE} SET version = version - 1, own_version = own_version - 1, token = 'first' WHERE id = 1`,
    );
    return [process, other];
  }

  it('has lost what is missing as soon as the process sees an earlier version of its row, once for all', async () => {
    const [process, other] = await wentBack({});
    expect((await process.readRow(1)).row).toMatchObject({ token: 'first' });
    const recorded = await state();
    expect(recorded['lost_at_ms']).toBeGreaterThan(0);
    expect(await barOf(process)).toBeGreaterThan(REACH_MS - 5_000);
    // The holder goes on, and it stays one loss.
    expect(await takeRow(process, 1, 'third')).toBe(true);
    await Promise.all([other.readTable(), process.readTable()]);
    expect(await state()).toEqual(recorded);
  });

  it('has lost nothing where the lease reckons with commits that are lost', async () => {
    const [process] = await wentBack({ losesCommits: true });
    await process.readRow(1);
    expect((await state())['lost_at_ms']).toBe(0);
  });

  it.each([
    ['is marked deleted', 'UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = 1'],
    ['was deleted', 'DELETE FROM soc_raindrop_worker WHERE id = 1'],
    ['another program has written', 'UPDATE soc_raindrop_worker SET version = version + 1 WHERE id = 1'],
  ])('has lost nothing where the row %s', async (_, sql) => {
    const process = await opened();
    expect(await takeRow(process, 1)).toBe(true);
    expect(await takeRow(process, 2)).toBe(true);
    expect(await takeRow(process, 1)).toBe(true);
    await admin.query(sql);
    await process.readRow(1);
    expect(await barOf(process)).toBe(0);
  });

  // SQLite has one server, and its first record is written at the first loss.
  if (kind !== 'sqlite') {
    it('has lost nothing where the node of a cluster that answered only lagged', async () => {
      const [process] = await wentBack({});
      // It has caught up when the loss is to be recorded.
      const server = (process as unknown as { server: { addWhatItLacks(...given: unknown[]): Promise<unknown> } })
        .server;
      const add = server.addWhatItLacks.bind(server);
      jest.spyOn(server, 'addWhatItLacks').mockImplementationOnce(async (...given) => {
        await admin.query(`UPDATE ${TABLE} SET version = version + 1, own_version = own_version + 1 WHERE id = 1`);
        return add(...given);
      });
      await process.readRow(1);
      expect((await state())['lost_at_ms']).toBe(0);
      jest.restoreAllMocks();
    });

    it('has lost its record where the state was dropped, and a process that has just begun records it', async () => {
      const process = await opened();
      expect(await takeRow(process, 1)).toBe(true);
      await admin.query(`DELETE FROM ${TABLE}_state`);
      await opened();
      expect((await state())['lost_at_ms']).toBe(0);
      expect(await barOf(process)).toBeGreaterThan(REACH_MS - 5_000);
    });

    it.each([
      ['has lost nothing once it was fenced, for a process that comes back from another server', 0],
      ['has lost what that one was written, where it has served on for a day after the fence', DAY_MS],
    ])('%s', async (_, servedOnMs) => {
      const process = await opened();
      const now = Date.now();
      await (await opened()).fence(fenceRequest(155_000, { servedAlone: 'ours' }));
      const fenced = await state();
      const known = { term: 'another', failoverNumber: now, seenAtMs: now - 1_000, grantedMs: now + 64_000 };
      if (servedOnMs > 0) {
        // The fence was a day ago.
        await admin.query(`UPDATE ${TABLE}_state SET fenced_until_ms = fenced_until_ms - ${servedOnMs}`);
      }
      (process as unknown as Known).server.guard.believed = known;
      const isLost = servedOnMs > 0;
      const { barredUntilMs, servedAlone } = await process.readTable();
      expect((await state())['lost_at_ms'] !== 0).toBe(isLost);
      expect(barredUntilMs === fenced['fenced_until_ms']).toBe(!isLost);
      expect(servedAlone?.lostUntilMs === 0).toBe(!isLost);
    });
  }
});
