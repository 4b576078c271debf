import Sqlite from 'better-sqlite3';
import { join } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { smallDisk, type SmallDisk } from '../../../../test/support/servers/small-disk.js';
import { SqlSegmentStore } from '../segment-table/sql-segment-store.js';
import { overBothPorts, sqlDatabase } from '../../../../test/support/stores/sql-database.js';

overBothPorts(() => {
  describe.each(['wal', 'delete'])('a store on a SQLite whose disk is full (journal mode %s)', (mode) => {
    let disk: SmallDisk;
    let options: DataSourceOptions;
    let other: Sqlite.Database;

    beforeEach(() => {
      disk = smallDisk();
      const database = join(disk.directory, 'full.sqlite');
      // The application's connection.
      other = new Sqlite(database);
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
