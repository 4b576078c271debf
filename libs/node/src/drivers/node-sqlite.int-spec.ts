import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../../test/support/state-file/temporary-directory.js';
import { driverCodeOf } from '../database/database-errors.js';
import { sqliteDialect } from '../database/sqlite-dialect.js';
import { openBetterSqlite3 } from './better-sqlite3.js';
import { nodeSqlite, openNodeSqlite } from './node-sqlite.js';
import type { SqliteFile } from './sqlite-file.js';

/** Of Node 20 there is nothing to test: `.ci/run` does so on Node 22, 24 and 26 (.github/workflows/ci.yml). */
const describeWithNode = nodeSqlite() === undefined ? describe.skip : describe;

let folder: string;
let drop: () => void;
let opened: SqliteFile[] = [];

beforeEach(() => void ({ directory: folder, drop } = temporaryDirectory()));

afterEach(() => {
  for (const file of opened) file.close();
  opened = [];
  drop();
});

const DRIVERS = { 'better-sqlite3': openBetterSqlite3, 'node:sqlite': openNodeSqlite };
type DriverName = keyof typeof DRIVERS;

/** Opens a file by a driver. Each has files of its own: two copies in one process do not see each other's locks. */
async function open(driver: DriverName, name: string, extra: Record<string, unknown> = {}): Promise<SqliteFile> {
  const database = join(folder, `${driver.replace(':', '-')}-${name}`);
  const file = await DRIVERS[driver]({ type: 'better-sqlite3', database, extra });
  opened.push(file);
  return file;
}

const pathOf = (driver: DriverName, name: string): string => join(folder, `${driver.replace(':', '-')}-${name}`);

interface FailureCase {
  readonly code: string;
  readonly verdict?: 'busy' | 'gone' | 'rights';
  fail(driver: DriverName): Promise<unknown>;
}

const TABLE = 'CREATE TABLE t (a integer PRIMARY KEY, b text NOT NULL UNIQUE)';

async function withTable(driver: DriverName): Promise<SqliteFile> {
  const file = await open(driver, 'a.sqlite');
  file.query(TABLE, []);
  file.query('INSERT INTO t VALUES (?, ?)', [1n, 'x']);
  return file;
}

/** One table of cases for both drivers: what Raindrop, the command and the ID service tell apart. */
const FAILURES: readonly (FailureCase & { readonly what: string })[] = [
  {
    what: 'another connection writes',
    code: 'SQLITE_BUSY',
    verdict: 'busy',
    fail: async (driver) => {
      (await withTable(driver)).query('BEGIN IMMEDIATE', []);
      (await open(driver, 'a.sqlite')).query('BEGIN IMMEDIATE', []);
    },
  },
  {
    what: 'a transaction reads what is older than the last write',
    code: 'SQLITE_BUSY_SNAPSHOT',
    verdict: 'busy',
    fail: async (driver) => {
      const [first, second] = [await withTable(driver), await open(driver, 'a.sqlite')];
      first.query('PRAGMA journal_mode = wal', []);
      first.query('BEGIN', []);
      first.query('SELECT * FROM t', []);
      second.query("INSERT INTO t VALUES (2, 'y')", []);
      first.query("INSERT INTO t VALUES (3, 'z')", []);
    },
  },
  {
    what: 'a unique value is there',
    code: 'SQLITE_CONSTRAINT_UNIQUE',
    fail: async (driver) => (await withTable(driver)).query('INSERT INTO t VALUES (?, ?)', [2n, 'x']),
  },
  {
    what: 'a key is there',
    code: 'SQLITE_CONSTRAINT_PRIMARYKEY',
    fail: async (driver) => (await withTable(driver)).query('INSERT INTO t VALUES (?, ?)', [1n, 'y']),
  },
  {
    what: 'a value is missing',
    code: 'SQLITE_CONSTRAINT_NOTNULL',
    fail: async (driver) => (await withTable(driver)).query('INSERT INTO t (a) VALUES (?)', [2n]),
  },
  {
    what: 'a table is missing',
    code: 'SQLITE_ERROR',
    verdict: 'gone',
    fail: async (driver) => (await withTable(driver)).query('SELECT * FROM gone', []),
  },
  {
    what: 'a column is missing',
    code: 'SQLITE_ERROR',
    verdict: 'gone',
    fail: async (driver) => (await withTable(driver)).query('SELECT gone FROM t', []),
  },
  {
    what: 'the statement is none',
    code: 'SQLITE_ERROR',
    fail: async (driver) => (await withTable(driver)).query('SELCT 1', []),
  },
  {
    what: 'it was opened for reading',
    code: 'SQLITE_READONLY',
    verdict: 'rights',
    fail: async (driver) => {
      await withTable(driver);
      (await open(driver, 'a.sqlite', { readonly: true })).query('DELETE FROM t', []);
    },
  },
  {
    what: 'its file was deleted',
    code: 'SQLITE_READONLY_DBMOVED',
    verdict: 'gone',
    fail: async (driver) => {
      const file = await withTable(driver);
      rmSync(pathOf(driver, 'a.sqlite'));
      file.query('DELETE FROM t', []);
    },
  },
  {
    what: 'there is no room',
    code: 'SQLITE_FULL',
    fail: async (driver) => {
      const file = await withTable(driver);
      file.query('PRAGMA max_page_count = 3', []);
      file.query('INSERT INTO t VALUES (2, hex(zeroblob(100000)))', []);
    },
  },
  {
    what: 'its pages are damaged',
    code: 'SQLITE_CORRUPT',
    fail: async (driver) => {
      (await withTable(driver)).close();
      truncateSync(pathOf(driver, 'a.sqlite'), 4_096 + 100);
      (await open(driver, 'a.sqlite')).query('SELECT * FROM t', []);
    },
  },
  {
    what: 'it is another kind of file',
    code: 'SQLITE_NOTADB',
    fail: async (driver) => {
      writeFileSync(pathOf(driver, 'a.sqlite'), 'x'.repeat(5_000));
      (await open(driver, 'a.sqlite')).query('SELECT * FROM t', []);
    },
  },
  {
    what: 'it must exist, and does not',
    code: 'SQLITE_CANTOPEN',
    fail: (driver) => open(driver, 'none.sqlite', { fileMustExist: true }),
  },
  {
    what: 'it is a folder',
    code: 'SQLITE_CANTOPEN',
    fail: async (driver) => (await open(driver, '/../')).query('SELECT 1 FROM sqlite_master', []),
  },
];

function verdictOf(error: Error): FailureCase['verdict'] {
  const code = driverCodeOf(error);
  if (sqliteDialect.isBusy(code)) return 'busy';
  if (sqliteDialect.isGone(code, error.message)) return 'gone';
  return sqliteDialect.refusal(code) === 'rights' ? 'rights' : undefined;
}

async function failureOf({ fail }: FailureCase, driver: DriverName): Promise<Error> {
  try {
    await fail(driver);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}

describe('A failure of better-sqlite3', () => {
  it.each(FAILURES)('has a code and a verdict where $what', async (each) => {
    const error = await failureOf(each, 'better-sqlite3');
    expect([driverCodeOf(error), verdictOf(error)]).toEqual([each.code, each.verdict]);
  });
});

describeWithNode('A failure of node:sqlite', () => {
  it.each(FAILURES)('has the code, the words and the verdict of better-sqlite3 where $what', async (each) => {
    const error = await failureOf(each, 'node:sqlite');
    expect([driverCodeOf(error), verdictOf(error)]).toEqual([each.code, each.verdict]);
    expect(error.message).toBe((await failureOf(each, 'better-sqlite3')).message);
  });
});

describe.each(Object.keys(DRIVERS) as DriverName[])('A file opened by %s', (driver) => {
  const itByDriver = driver === 'node:sqlite' && nodeSqlite() === undefined ? it.skip : it;

  itByDriver('returns integers as numbers, and texts as they are', async () => {
    const file = await withTable(driver);
    file.query('INSERT INTO t VALUES (?, ?)', [9_007_199_254_740_991n, 'ü']);
    expect(file.query('SELECT a, b, NULL AS c, 1.5 AS d FROM t ORDER BY a', []).records).toEqual([
      { a: 1, b: 'x', c: null, d: 1.5 },
      { a: 9_007_199_254_740_991, b: 'ü', c: null, d: 1.5 },
    ]);
  });

  itByDriver('stores and compares every 64-bit integer exactly', async () => {
    const file = await withTable(driver);
    file.query('INSERT INTO t VALUES (?, ?)', [9_223_372_036_854_775_807n, 'y']);
    const { records } = file.query('SELECT CAST(a AS text) AS a FROM t WHERE a = ?', [9_223_372_036_854_775_807n]);
    expect(records).toEqual([{ a: '9223372036854775807' }]);
  });

  itByDriver('says how many rows a statement has changed, and 0 for one that changes none', async () => {
    const file = await withTable(driver);
    const affected = [
      'BEGIN',
      "UPDATE t SET b = 'y'",
      "UPDATE t SET b = 'z' WHERE a = 2",
      'COMMIT',
      'DELETE FROM t',
    ].map((sql) => file.query(sql, []).affected);
    expect(affected).toEqual([0, 1, 0, 0, 1]);
    expect(file.query("INSERT INTO t VALUES (7, 'q') RETURNING a", []).records).toEqual([{ a: 7 }]);
  });

  itByDriver(
    'counts nothing for a statement that changes none after one that returned rows, or failed midway',
    async () => {
      const file = await withTable(driver);
      const affectedBy = (sql: string): unknown => file.query(sql, []).affected;
      affectedBy("UPDATE t SET b = 'y' RETURNING a");
      expect(affectedBy('BEGIN')).toBe(0);
      // Row 7 stays, row 1 fails.
      expect(() => affectedBy("INSERT OR FAIL INTO t VALUES (7, 'q'), (1, 'r')")).toThrow();
      expect(affectedBy('COMMIT')).toBe(0);
      expect(file.query('SELECT a FROM t ORDER BY a', []).records).toEqual([{ a: 1 }, { a: 7 }]);
    },
  );

  itByDriver('counts the rows of the statement alone, without those of its triggers and foreign keys', async () => {
    const file = await withTable(driver);
    file.query('CREATE TABLE part (of integer REFERENCES t ON DELETE CASCADE)', []);
    file.query('CREATE TRIGGER more AFTER UPDATE ON t BEGIN INSERT INTO part VALUES (1), (1); END', []);
    const affected = ["UPDATE t SET b = 'y'", 'BEGIN', 'DELETE FROM t', 'COMMIT'].map(
      (sql) => file.query(sql, []).affected,
    );
    expect(affected).toEqual([1, 0, 1, 0]);
  });

  itByDriver('is busy at once, whatever waits', async () => {
    await withTable(driver);
    const file = await open(driver, 'a.sqlite');
    expect(file.query('PRAGMA busy_timeout', []).records).toEqual([{ timeout: 0 }]);
  });

  itByDriver('is closed once, and lets its file go', async () => {
    const file = await withTable(driver);
    file.close();
    file.close();
    expect(() => file.query('SELECT * FROM t', [])).toThrow(/not open/);
    const again = await open(driver, 'a.sqlite');
    expect(again.query('SELECT b FROM t', []).records).toEqual([{ b: 'x' }]);
  });
});

describeWithNode('A process with node:sqlite and one with better-sqlite3 on the same file', () => {
  /** Holds the write lock by better-sqlite3 until its input ends. */
  const HOLDER = `
    const Sqlite = require(process.argv[1]);
    const database = new Sqlite(process.argv[2], { timeout: 0 });
    try {
      database.exec('BEGIN IMMEDIATE');
      console.log('holds it');
    } catch ({ code }) {
      console.log(code);
    }
    process.stdin.resume().once('end', () => database.close());
  `;

  /** What it says, and how to end it. */
  async function startOther(): Promise<{ said: string; end: () => Promise<unknown> }> {
    const args = ['-e', HOLDER, require.resolve('better-sqlite3'), pathOf('node:sqlite', 'a.sqlite')];
    const other = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(other, 'close');
    const [said] = (await Promise.race([once(other.stdout, 'data'), ended])) as [unknown];
    return { said: String(said).trim(), end: () => (other.stdin.end(), ended) };
  }

  it.each(['delete', 'wal'])('exclude each other from writing (journal mode %s)', async (mode) => {
    const file = await withTable('node:sqlite');
    file.query(`PRAGMA journal_mode = ${mode}`, []);

    const holder = await startOther();
    expect(holder.said).toBe('holds it');
    expect(() => file.query('BEGIN IMMEDIATE', [])).toThrow(expect.objectContaining({ code: 'SQLITE_BUSY' }) as Error);
    await holder.end();

    file.query('BEGIN IMMEDIATE', []);
    const refused = await startOther();
    expect(refused.said).toBe('SQLITE_BUSY');
    await refused.end();
    file.query('COMMIT', []);
  });
});
