import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  dataSourceOptions,
  nameDatabase,
  openDatabase,
  readDatabaseUrl,
  type ServiceDatabase,
} from './open-database.js';

describe('readDatabaseUrl', () => {
  it.each<[string, ServiceDatabase]>([
    ['sqlite:a/b.sqlite', { type: 'better-sqlite3', database: 'a/b.sqlite' }],
    ['sqlite:///var/a.sqlite', { type: 'better-sqlite3', database: '/var/a.sqlite' }],
    ['mysql://u:p@h:3307/d', { type: 'mysql', url: 'mysql://u:p@h:3307/d' }],
    ['mariadb://u@h/d', { type: 'mariadb', url: 'mysql://u@h/d' }],
    ['postgres://h/d', { type: 'postgres', url: 'postgres://h/d' }],
    ['postgresql://u@[::1]:5432/d', { type: 'postgres', url: 'postgresql://u@[::1]:5432/d' }],
  ])('reads %s', (given, database) => {
    expect(readDatabaseUrl(given)).toEqual(database);
  });

  it.each(['', 'localhost', 'redis://h/1', 'mysql://h', 'mysql://h/', 'mysql:///d', 'postgres://h/a/b', 'sqlite:'])(
    'says what is legal in place of %j',
    (given) => {
      expect(() => readDatabaseUrl(given)).toThrow(/must be mysql:\/\/, mariadb:\/\/ or postgres:\/\//);
    },
  );
});

describe('nameDatabase', () => {
  it('shows neither user nor password', () => {
    expect(nameDatabase({ type: 'mariadb', url: 'mysql://root:secret@db:3307/shop?ssl=x' })).toBe(
      'mariadb://db:3307/shop',
    );
    expect(nameDatabase({ type: 'better-sqlite3', database: 'data/x.sqlite' })).toBe('the SQLite file data/x.sqlite');
  });
});

it('A pipe in place of the SQLite file is refused, and not waited for', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'raindrop-pipe-'));
  const database = join(folder, 'ids.sqlite');
  try {
    execFileSync('mkfifo', [database]);
    const options = dataSourceOptions({ type: 'better-sqlite3', database });
    await expect(openDatabase(options)).rejects.toMatchObject({ code: 'ENXIO' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
