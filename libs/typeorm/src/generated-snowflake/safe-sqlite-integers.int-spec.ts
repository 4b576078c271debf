import Sqlite from 'better-sqlite3';
import { safeSqliteIntegers } from './safe-sqlite-integers.js';

describe('safeSqliteIntegers', () => {
  let database: Sqlite.Database;

  beforeEach(() => {
    database = new Sqlite(':memory:');
    database.exec(`CREATE TABLE t (id bigint, real double, text text, blob blob);
      INSERT INTO t VALUES (9007199254740993, 1.5, '9', x'01'), (-9007199254740991, 2, NULL, NULL)`);
    safeSqliteIntegers(database);
  });

  afterEach(() => {
    database.close();
  });

  const rows = [
    { id: '9007199254740993', real: 1.5, text: '9', blob: Buffer.from([1]) },
    { id: -9_007_199_254_740_991, real: 2, text: null, blob: null },
  ];

  it('answers with exact text above 2^53 - 1 and with numbers below', () => {
    const statement = database.prepare('SELECT * FROM t');
    expect(statement.all()).toEqual(rows);
    expect(statement.get()).toEqual(rows[0]);
    expect([...statement.iterate()]).toEqual(rows);
  });

  it('serves the pluck, raw and expand modes', () => {
    expect(database.prepare('SELECT id FROM t').pluck().all()).toEqual([rows[0]!.id, rows[1]!.id]);
    expect(database.prepare('SELECT id, real FROM t').raw().get()).toEqual([rows[0]!.id, 1.5]);
    expect(database.prepare('SELECT id FROM t').expand().get()).toEqual({ t: { id: rows[0]!.id } });
    expect(database.prepare('SELECT id FROM t WHERE id = 0').get()).toBeUndefined();
  });

  it('leaves writing statements, pragmas and transactions as they are', () => {
    const insert = database.prepare('INSERT INTO t (id) VALUES (?)');
    expect(insert.run('9007199254740995')).toEqual({ changes: 1, lastInsertRowid: 3 });
    expect(database.prepare('INSERT INTO t (id) VALUES (?) RETURNING id').get(7n)).toEqual({ id: 7 });
    expect(database.pragma('user_version', { simple: true })).toBe(0);
    expect(database.transaction(() => database.prepare('SELECT COUNT(*) AS n FROM t').get())()).toEqual({ n: 4 });
  });

  it('does nothing the second time, or to a database that answers with bigints', () => {
    const { prepare } = database;
    safeSqliteIntegers(database);
    expect(database.prepare).toBe(prepare);

    const exact = new Sqlite(':memory:').defaultSafeIntegers();
    safeSqliteIntegers(exact);
    expect(exact.prepare('SELECT 1 AS one').get()).toEqual({ one: 1n });
    exact.close();
  });
});
