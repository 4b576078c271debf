import { DataSource, type DataSourceOptions } from 'typeorm';
import { openStore } from '../../../../test/contract/open-store.js';
import { startMariadb, startPostgres } from '../../../../test/servers/private-servers.js';
import { testDatabase } from '../../../../test/servers/test-databases.js';
import { until } from '../../../../test/waiting/until.js';

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
