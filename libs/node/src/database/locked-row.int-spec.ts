import { DataSource } from 'typeorm';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';

const LOCKS = {
  postgres: { names: ['Lock', 'pg_locks', 'synchronous_standby_names'], not: 'semi-synchronous' },
  mariadb: { names: ['INNODB STATUS', 'semi-synchronous replication'], not: 'synchronous_standby_names' },
  mysql: { names: ['INNODB STATUS', 'semi-synchronous replication'], not: 'synchronous_standby_names' },
};

describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))(
  'A row that another session has locked on %s',
  (kind) => {
    it('is explained in words of that database', async () => {
      const database = await testDatabase(kind);
      const store = openStore(database.options);
      await store.prepare({ min: 1, max: 2 });
      await store.readTable();
      const other = await new DataSource(database.options).initialize();
      const runner = other.createQueryRunner();
      await runner.startTransaction();
      await runner.query('UPDATE soc_raindrop_worker SET code = code WHERE id = 1');
      await runner.query('SELECT * FROM soc_raindrop_worker WHERE id = 1 FOR UPDATE');
      const writing = takeRow(store, 1).catch((error: unknown) => error);
      const sql =
        kind === 'postgres'
          ? `SELECT 1 AS it FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
          : `SELECT 1 AS it FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'UPDATE %' AND command = 'Query'`;
      await until('the write to wait', async () => (await other.query<unknown[]>(sql)).length > 0);
      store.abandon();
      await writing;
      const error = await store.readTable().catch((reason: unknown) => reason as Error);
      const said = error instanceof Error ? error.message : 'nothing';
      const { names, not } = LOCKS[kind];
      for (const name of names) expect(said).toContain(name);
      expect(said).not.toContain(not);
      await runner.rollbackTransaction();
      await runner.release();
      await until('it to be over', async () => (await store.readTable().catch(() => undefined)) !== undefined);
      await store.close();
      await other.destroy();
      await database.drop();
    });
  },
);
