import type { DataSourceOptions } from 'typeorm';
import { sqliteVersionsOf } from './data-source-database.js';

it('The version is read where TypeORM would load it', () => {
  const options: DataSourceOptions = { type: 'better-sqlite3', database: ':memory:' };
  const expected = process.versions.node.startsWith('20.') ? /^12\./ : /^13\./;
  expect(sqliteVersionsOf(options)?.driver).toMatch(expected);
});

it.each([
  { type: 'postgres' },
  { type: 'mysql' },
  { type: 'better-sqlite3', database: ':memory:', driver: {} },
] as DataSourceOptions[])('The version matters to no DataSource that does not load it (%j)', (options) => {
  expect(sqliteVersionsOf(options)).toBeUndefined();
});
