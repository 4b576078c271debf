import type Sqlite from 'better-sqlite3';
import type { DataSourceOptions } from 'typeorm';
import { join } from 'node:path';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { expectOffTheEventLoop, noteBusyAttempts } from '../../../../test/support/stores/busy-sqlite.js';
import { writeTo } from '../../../../test/proof/contract/worker-store.contract.js';
import {
  isOfNodeSqlite,
  openSqlite,
  type SqliteConnection,
} from '../../../../test/support/servers/sqlite-connection.js';
import { testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';
import { DatabaseConnection } from '../database/database-connection.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { smallDisk, type SmallDisk } from '../../../../test/support/servers/small-disk.js';
import { SqlSegmentStore } from '../segment-table/sql-segment-store.js';

overBothPorts(() => {
  describe('a SQLite that another process is writing to', () => {
    let database: TestDatabase;
    let other: SqliteConnection;

    beforeEach(async () => {
      database = await testDatabase('sqlite');
      const store = openStore(database.options);
      await store.prepare({ min: 1, max: 2 });
      await store.close();
      other = openSqlite(String(database.options.database));
      other.exec('CREATE TABLE app (id integer)');
    });

    afterEach(async () => {
      jest.restoreAllMocks();
      other.close();
      await database.drop();
    });

    it.each(['delete', 'wal'])(
      'is asked again until it is free, off the event loop (journal mode %s)',
      async (mode) => {
        other.pragma(`journal_mode = ${mode}`);
        const store = openStore(database.options);
        await store.readTable();
        other.exec('BEGIN EXCLUSIVE; INSERT INTO app VALUES (1)');

        const attempts = noteBusyAttempts();
        let isWritten = false;
        const call = takeRow(store, 1).finally(() => (isWritten = true));
        await until('it to be tried again and again', () => attempts.length >= 5);
        expect(isWritten).toBe(false);
        other.exec('COMMIT');
        expect(await call).toBe(true);
        expectOffTheEventLoop(attempts);
        expect(other.pragma('journal_mode')).toBe(mode);
        await store.close();
      },
    );

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
      // Who only reads is let in: what waits is the UPDATE.
      other.exec('BEGIN IMMEDIATE');
      const attempts = noteBusyAttempts();
      const statements = jest.spyOn(DatabaseConnection.prototype, 'run');
      const call = store.write(writeTo(row!));
      await until('it to be tried', () => attempts.length > 0);
      store.abandon();
      await expect(call).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED' });
      other.exec('COMMIT');
      // By now it has given up, whatever it waited for.
      await expect(statements.mock.results[0]!.value).rejects.toBeInstanceOf(Error);
      expect(statements.mock.calls.map(([sql]) => sql.split(' ')[0])).toEqual(['UPDATE']);
      expect((await store.readRow(1)).row).toEqual(row);
      await store.close();
    });

    // Only TypeORM has the hook, and with it better-sqlite3.
    (isOfNodeSqlite ? it.skip : it)(
      "does not stop the event loop although the application's hook says to wait",
      async () => {
        const prepareDatabase = (connection: Sqlite.Database): void => void connection.pragma('busy_timeout = 2000');
        const store = openStore({ ...database.options, prepareDatabase } as DataSourceOptions, { opTimeoutMs: 100 });
        await store.readTable();
        other.exec('BEGIN EXCLUSIVE');
        const attempts = noteBusyAttempts();
        await expect(takeRow(store, 1)).rejects.toMatchObject({ driverCode: 'SQLITE_BUSY' });
        expect(attempts.length).toBeGreaterThan(0);
        expectOffTheEventLoop(attempts);
        other.exec('COMMIT');
        await store.close();
      },
    );
  });
});

overBothPorts(() => {
  describe.each(['wal', 'delete'])('a store on a SQLite whose disk is full (journal mode %s)', (mode) => {
    let disk: SmallDisk;
    let options: DataSourceOptions;
    let other: SqliteConnection;

    beforeEach(() => {
      disk = smallDisk();
      const database = join(disk.directory, 'full.sqlite');
      // The application's connection.
      other = openSqlite(database);
      other.pragma(`journal_mode = ${mode}`);
      other.exec('CREATE TABLE app (id integer)');
      options = { type: 'better-sqlite3', database };
    });

    afterEach(() => {
      other.close();
      disk.remove();
    });

    it('tells of a write that failed, and takes the worker as soon as there is room', async () => {
      const store = openStore(options);
      await store.prepare({ min: 1, max: 2 });
      disk.fill();
      for (let time = 0; time < 3; time++) {
        await expect(takeRow(store, 1)).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED', retryable: true });
      }
      expect((await store.readRow(1)).row).toMatchObject({ token: '' });
      disk.free();
      expect(await takeRow(store, 1)).toBe(true);
      await store.close();
    });

    it('reserves no number twice', async () => {
      const common = { tableName: 'numbers', autoCreateTable: true, skipAfterFailover: 0 };
      const table = { ...common, autoCreateCode: true, defaultStep: 10 };
      const store = new SqlSegmentStore(sqlDatabase(options), { ...table, opTimeoutMs: 5_000 });
      await store.prepare();
      const source = store.source('order');
      const reserved = [await source.reserve({ above: 0n })];
      disk.fill();
      const unavailable = { errorCode: 'SEGMENT_STORE_UNAVAILABLE', retryable: true };
      for (let time = 0; time < 3; time++)
        await expect(source.reserve({ above: 0n })).rejects.toMatchObject(unavailable);
      disk.free();
      reserved.push(await source.reserve({ above: 0n }));
      await store.close();
      const reopened = new SqlSegmentStore(sqlDatabase(options), { ...table, opTimeoutMs: 5_000 });
      reserved.push(await reopened.source('order').reserve({ above: 0n }));
      await reopened.close();
      expect(reserved.map(({ first, last }) => [first, last])).toEqual([
        [1n, 10n],
        [11n, 20n],
        [21n, 30n],
      ]);
    });
  });
});
