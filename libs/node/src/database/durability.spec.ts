import { mysqlDurability, postgresDurability, sqliteDurability } from './durability.js';

const SAFE = {
  mysql: { flush_log: '1', log_bin: '1', sync_binlog: '1' },
  postgres: { synchronous_commit: 'on', fsync: 'on', standbys: '' },
  sqlite: { synchronous: '2', journal_mode: 'wal' },
};

describe('durability settings', () => {
  it.each([
    { check: mysqlDurability, settings: SAFE.mysql, names: [] },
    { check: mysqlDurability, settings: { ...SAFE.mysql, flush_log: '3', log_bin: '0', sync_binlog: '0' }, names: [] },
    { check: mysqlDurability, settings: { ...SAFE.mysql, flush_log: '0' }, names: ['innodb_flush_log_at_trx_commit'] },
    { check: mysqlDurability, settings: { ...SAFE.mysql, flush_log: '2' }, names: ['innodb_flush_log_at_trx_commit'] },
    { check: mysqlDurability, settings: { ...SAFE.mysql, sync_binlog: '0' }, names: ['sync_binlog'] },
    { check: postgresDurability, settings: SAFE.postgres, names: [] },
    { check: postgresDurability, settings: { ...SAFE.postgres, fsync: 'off' }, names: ['fsync'] },
    {
      check: postgresDurability,
      settings: { ...SAFE.postgres, synchronous_commit: 'off' },
      names: ['synchronous_commit'],
    },
    { check: postgresDurability, settings: { ...SAFE.postgres, synchronous_commit: 'local' }, names: [] },
    {
      check: postgresDurability,
      settings: { ...SAFE.postgres, synchronous_commit: 'local', standbys: 'b' },
      names: ['synchronous_commit'],
    },
    { check: sqliteDurability, settings: SAFE.sqlite, names: [] },
    { check: sqliteDurability, settings: { ...SAFE.sqlite, synchronous: '1' }, names: ['synchronous'] },
    { check: sqliteDurability, settings: { ...SAFE.sqlite, journal_mode: 'memory' }, names: ['journal_mode'] },
  ])('$settings: warns of $names', ({ check, settings, names }) => {
    expect(check.judge(settings, '').map((problem) => problem.split(' ')[0])).toEqual(names);
  });
});
