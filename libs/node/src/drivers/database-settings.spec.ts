import { databaseSettingsOf } from './database-settings.js';

it.each<[unknown, object | undefined]>([
  ['mysql://root@host/db', { type: 'mysql', url: 'mysql://root@host/db' }],
  ['mariadb://root@host/db', { type: 'mariadb', url: 'mysql://root@host/db' }],
  ['postgres://host/db', { type: 'postgres', url: 'postgres://host/db' }],
  ['postgresql://host/db', { type: 'postgres', url: 'postgresql://host/db' }],
  [' postgres://host/db\n', { type: 'postgres', url: 'postgres://host/db' }],
  ...['schema', 'currentSchema', 'search_path'].map(
    (name) =>
      [
        `postgres://host/db?${name}=shop`,
        { type: 'postgres', url: `postgres://host/db?${name}=shop`, schema: 'shop' },
      ] as [string, object],
  ),
  [
    { type: 'postgres', url: 'postgres://host/db?schema=shop' },
    { type: 'postgres', url: 'postgres://host/db?schema=shop', schema: 'shop' },
  ],
  [
    { type: 'postgres', url: 'postgres://host/db?schema=shop', schema: 'own' },
    { type: 'postgres', url: 'postgres://host/db?schema=shop', schema: 'own' },
  ],
  ...['SCHEMA', 'currentschema', 'CurrentSchema', 'Search_Path'].map(
    (name) =>
      [
        `postgres://host/db?${name}=shop`,
        { type: 'postgres', url: `postgres://host/db?${name}=shop`, schema: 'shop' },
      ] as [string, object],
  ),
  ['postgres://host/db?SCHEMA=a&schema=b', undefined],
  ['mysql://host/db?SCHEMA=shop', undefined],
  ['sqlite:file:/data/a.db', undefined],
  ['sqlite:FILE:data/a.db', undefined],
  ['sqlite:file:///data/a.db?mode=ro', undefined],
  ['sqlite:file::memory:', undefined],
  [{ type: 'better-sqlite3', database: 'file:/data/a.db' }, undefined],
  ['sqlite:files/a.db', { type: 'better-sqlite3', database: 'files/a.db' }],
  ['sqlite:data/a.sqlite', { type: 'better-sqlite3', database: 'data/a.sqlite' }],
  ['sqlite:///var/a.sqlite', { type: 'better-sqlite3', database: '/var/a.sqlite' }],
  [
    { type: 'postgres', database: 'x' },
    { type: 'postgres', database: 'x' },
  ],
  ['mongodb://host/db', undefined],
  ['mysql://root:%ZZ@host/db', undefined],
  ['rubbish', undefined],
  ['', undefined],
  [{}, undefined],
  [{ type: 'oracle', database: 'x' }, undefined],
  [{ type: 'postgres', replication: {} }, undefined],
  [{ type: 'postgres', port: ['5432'] }, undefined],
  [null, undefined],
  [7, undefined],
])('%j is %j', (given, options) => {
  expect(databaseSettingsOf(given)).toEqual(options);
});
