import { DataSource, type DataSourceOptions } from 'typeorm';
import { openStore } from '../../../../test/support/stores/open-store.js';
import { startMariadb, startPostgres } from '../../../../test/support/servers/private-servers.js';
import { openAppSegmentStore, openSegmentStore } from '../../../../test/support/stores/open-segment-store.js';
import { databaseKinds, testDatabase } from '../../../../test/support/servers/test-databases.js';
import { until } from '../../../../test/support/until.js';

const SAFE_ELSEWHERE = {
  postgres: { emptied: ['SET UNLOGGED'], loses: [] },
  mariadb: { emptied: ['ENGINE=MEMORY'], loses: ['ENGINE=Aria', 'ENGINE=MyISAM'] },
  mysql: { emptied: ['ENGINE=MEMORY'], loses: ['ENGINE=MyISAM'] },
};

/** Every store that keeps its numbers in tables, with the first of them. */
const STORES = [
  { table: 'soc_raindrop_worker', beside: ['_layout', '_state'], open: openStore },
  { table: 'raindrop_segment', beside: ['_state'], open: openSegmentStore },
  { table: 'raindrop_app_segment', beside: ['_state'], open: openAppSegmentStore },
];

describe.each(databaseKinds.filter((kind) => kind !== 'sqlite'))('tables of ours on %s', (kind) => {
  it.each(STORES)('$table and those beside it are safe as they are made, and looked at', async (each) => {
    const { options, drop } = await testDatabase(kind);
    const admin = await new DataSource(options).initialize();
    const store = each.open(options);
    const prepare = (): Promise<void> => store.prepare({ min: 1, max: 2 });
    await prepare();
    const about = async (): Promise<string[]> =>
      (await store.durabilityWarnings()).filter((warning) => warning.startsWith('the table '));
    expect(await about()).toEqual([]);
    const { emptied, loses } = SAFE_ELSEWHERE[kind];
    for (const name of ['', ...each.beside].map((suffix) => `${each.table}${suffix}`)) {
      for (const change of loses) {
        await admin.query(`ALTER TABLE ${name} ${change}`);
        expect(await about()).toEqual([expect.stringContaining(`the table ${name} is not safe: its engine`)]);
        await prepare();
      }
      for (const change of emptied) {
        await admin.query(`ALTER TABLE ${name} ${change}`);
        expect(await about()).toEqual([expect.stringContaining(`the table ${name} is not safe: it`)]);
        const refusal = { errorCode: 'NOT_OUR_TABLE', retryable: false, table: name, missingColumns: [] };
        await expect(prepare()).rejects.toMatchObject(refusal);
      }
      await admin.query(`ALTER TABLE ${name} ${kind === 'postgres' ? 'SET LOGGED' : 'ENGINE=InnoDB'}`);
    }
    await prepare();
    await store.close();
    await admin.destroy();
    await drop();
  });
});

/** The names and values that a store warns of, after the operator's statements and when the last of them is in force. */
async function warnings(
  options: DataSourceOptions,
  statements: readonly string[] = [],
  inForce: string = 'SELECT 1',
): Promise<string[]> {
  const operator = await new DataSource(options).initialize();
  for (const sql of statements) await operator.query(sql);
  await until('the statements to be in force', async () => (await operator.query<unknown[]>(inForce)).length > 0);
  await operator.destroy();
  const store = openStore(options);
  const found = await store.durabilityWarnings();
  await store.close();
  return found.map((problem) => problem.split(':')[0]!);
}

describe('settings that can lose acknowledged commits', () => {
  it('are read from a MariaDB', async () => {
    const server = await startMariadb();
    const { options } = await testDatabase('mariadb', server.url);
    const set = (value: number): string[] => [`SET GLOBAL innodb_flush_log_at_trx_commit = ${value}`];
    expect(await warnings(options, set(0))).toEqual(['innodb_flush_log_at_trx_commit is 0']);
    expect(await warnings(options, set(2))).toEqual(['innodb_flush_log_at_trx_commit is 2']);
    expect(await warnings(options, set(1))).toEqual([]);
    await server.stop();
  });

  it('are read from a PostgreSQL, where the session itself switches synchronous commits on', async () => {
    const server = await startPostgres();
    const { options } = await testDatabase('postgres', server.url);
    const set = (name: string, value: string): string[] => [
      `ALTER SYSTEM SET ${name} = ${value}`,
      'SELECT pg_reload_conf()',
    ];
    const isOff = (name: string): string => `SELECT name FROM pg_settings WHERE name = '${name}' AND setting = 'off'`;
    expect(await warnings(options)).toEqual([]);
    expect(await warnings(options, set('fsync', 'off'), isOff('fsync'))).toEqual(['fsync is off']);
    const commits = 'synchronous_commit';
    expect(await warnings(options, set(commits, 'off'), isOff(commits))).toEqual(['fsync is off']);
    await server.stop();
  });

  it('are none in a SQLite file, whatever the journal', async () => {
    const { options, drop } = await testDatabase('sqlite');
    expect(await warnings(options)).toEqual([]);
    expect(await warnings(options, ['PRAGMA journal_mode = WAL'])).toEqual([]);
    await drop();
  });
});
