import { UnsupportedDatabaseError } from '@raindrop/node';
import { OwnDatabase } from '@raindrop/node/internal';
import type { DataSourceOptions } from 'typeorm';
import { dataSourceDatabase } from './data-source-database.js';

function open(options: object): OwnDatabase {
  return new OwnDatabase(dataSourceDatabase(options as DataSourceOptions), { opTimeoutMs: 3_000 });
}

describe('the database of a DataSource', () => {
  it.each(['aurora-mysql', 'cockroachdb', 'mongodb', 'mssql'])('is refused when it is %s', (type) => {
    expect(() => open({ type })).toThrow(UnsupportedDatabaseError);
    expect(() => open({ type })).toThrow(
      `'${type}' cannot keep worker ids and numbers. Supported are 'mysql', 'mariadb',`,
    );
  });

  it('is refused when it is in memory', () => {
    expect(() => open({ type: 'better-sqlite3', database: ':memory:' })).toThrow(/no second connection/);
  });

  it.each([
    [true, { type: 'better-sqlite3', database: ':memory:' }],
    [true, { type: 'better-sqlite3', database: '' }],
    [true, { type: 'better-sqlite3', database: ' ' }],
    [true, { type: 'better-sqlite3', database: Buffer.alloc(1) }],
    [true, { type: 'better-sqlite3', database: 'file:x?mode=memory&cache=shared' }],
    [true, { type: 'sqljs' }],
    [false, { type: 'better-sqlite3', database: 'memory.sqlite' }],
    [false, { type: 'postgres', database: ':memory:' }],
    [false, { type: 'mariadb' }],
  ])('is volatile: %s, for %j', (expected, options) => {
    expect(dataSourceDatabase(options as unknown as DataSourceOptions).isVolatile).toBe(expected);
  });

  it('warns of a DataSource that drops our table at every start', () => {
    const options: DataSourceOptions = { type: 'postgres', dropSchema: true };
    expect(dataSourceDatabase(options).warnings()).toEqual([expect.stringContaining('dropSchema')]);
  });
});
