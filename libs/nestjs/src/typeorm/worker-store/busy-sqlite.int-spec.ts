import Sqlite from 'better-sqlite3';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSourceOptions } from 'typeorm';
import { openStore, takeRow } from '../../../../../test/contract/open-store.js';
import { testDatabase, type TestDatabase } from '../../../../../test/servers/test-databases.js';

describe('a SQLite that somebody else is writing to', () => {
  let database: TestDatabase;
  let other: Sqlite.Database;

  beforeEach(async () => {
    database = await testDatabase('sqlite');
    const store = openStore(database.options);
    await store.prepare({ min: 1, max: 2 });
    await store.close();
    other = new Sqlite(String(database.options.database));
    other.exec('CREATE TABLE app (id integer)');
  });

  afterEach(async () => {
    other.close();
    await database.drop();
  });

  it.each(['delete', 'wal'])('is asked again until it is free, off the event loop (journal mode %s)', async (mode) => {
    other.pragma(`journal_mode = ${mode}`);
    const store = openStore(database.options);
    await store.readTable();
    other.exec('BEGIN EXCLUSIVE; INSERT INTO app VALUES (1)');

    let longest = 0;
    let last = performance.now();
    const ticker = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    let isWritten = false;
    const call = takeRow(store, 1).finally(() => (isWritten = true));
    await sleep(300);
    expect(isWritten).toBe(false);
    other.exec('COMMIT');
    expect(await call).toBe(true);
    clearInterval(ticker);
    // A busy timeout of SQLite's own would show as one stop of 300 ms.
    expect(longest).toBeLessThan(150);
    expect(other.pragma('journal_mode', { simple: true })).toBe(mode);
    await store.close();
  });

  it('is given up after opTimeoutMs', async () => {
    const store = openStore(database.options, { opTimeoutMs: 150 });
    other.exec('BEGIN EXCLUSIVE');
    await expect(takeRow(store, 1)).rejects.toMatchObject({
      errorCode: 'DATABASE_CALL_FAILED',
      driverCode: 'SQLITE_BUSY',
    });
    other.exec('COMMIT');
    expect(await takeRow(store, 1)).toBe(true);
    await store.close();
  });

  it('is abandoned at once, and the statement is not run later', async () => {
    const store = openStore(database.options);
    const { row } = await store.readRow(1);
    other.exec('BEGIN EXCLUSIVE');
    const call = takeRow(store, 1);
    await sleep(40);
    store.abandon();
    await expect(call).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED' });
    other.exec('COMMIT');
    await sleep(120);
    expect((await store.readRow(1)).row).toEqual(row);
    await store.close();
  });

  it("does not stop the event loop although the application's hook says to wait", async () => {
    const prepareDatabase = (connection: Sqlite.Database): void => void connection.pragma('busy_timeout = 2000');
    const store = openStore({ ...database.options, prepareDatabase } as DataSourceOptions, { opTimeoutMs: 100 });
    await store.readTable();
    other.exec('BEGIN EXCLUSIVE');
    const before = performance.now();
    await expect(takeRow(store, 1)).rejects.toMatchObject({ driverCode: 'SQLITE_BUSY' });
    expect(performance.now() - before).toBeLessThan(1_000);
    other.exec('COMMIT');
    await store.close();
  });
});
