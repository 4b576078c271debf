import Sqlite from 'better-sqlite3';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DriverConnection } from './sql-database.js';
import { MOVED, SqliteFiles } from './sqlite-files.js';

let folder: string;
let file: string;
let opened: Sqlite.Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'raindrop-files-'));
  file = join(folder, 'a.sqlite');
  opened = new Sqlite(file);
  opened.exec('CREATE TABLE t (a)');
});

afterEach(() => {
  opened.close();
  rmSync(folder, { recursive: true });
});

const connection = (): DriverConnection => ({
  stream: undefined,
  query: (sql) =>
    Promise.resolve({
      affected: undefined,
      insertId: undefined,
      records: opened.prepare(sql).all() as Record<string, unknown>[],
    }),
});

it('refuses a file that was deleted, or replaced, while it was opened', async () => {
  const files = new SqliteFiles(file);
  rmSync(file);
  await expect(files.hold(connection())).rejects.toMatchObject({ driverCode: MOVED });
  writeFileSync(join(folder, 'between'), '');
  writeFileSync(file, '');
  await expect(files.hold(connection())).rejects.toMatchObject({ driverCode: MOVED });
});

it('takes one that the session has made, and says at once, without the thread pool, that it was deleted', async () => {
  rmSync(file);
  const files = new SqliteFiles(file);
  opened.close();
  opened = new Sqlite(file);
  opened.exec('CREATE TABLE t (a)');
  await files.hold(connection());
  expect(() => files.check()).not.toThrow();
  rmSync(file);
  expect(() => files.check()).toThrow(expect.objectContaining({ driverCode: MOVED }) as Error);
});

it('knows the file by the name that its driver opens: without blanks and line feeds around it', async () => {
  const files = new SqliteFiles(` ${file}\n`);
  await files.hold(connection());
  expect(() => files.check()).not.toThrow();
  rmSync(file);
  expect(() => files.check()).toThrow(expect.objectContaining({ driverCode: MOVED }) as Error);
});

it('takes a directory that may not be looked at for no file that was deleted', async () => {
  // Who is not root is refused nothing here that another account could be given.
  if (process.getuid?.() !== 0) return;
  const files = new SqliteFiles(file);
  await files.hold(connection());
  chmodSync(folder, 0o700);
  process.seteuid!(65_534);
  try {
    expect(() => files.check()).toThrow(expect.objectContaining({ code: 'EACCES' }) as Error);
  } finally {
    process.seteuid!(0);
  }
});
