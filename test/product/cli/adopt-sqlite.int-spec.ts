import { databaseUrl } from '../service/service-process.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { using, type Adoption } from './adoption.js';
import { jsonHere } from './cli-in-process.js';
import { typeErrors } from './compiled-migration.js';

let database: TestDatabase;

beforeEach(async () => {
  database = await testDatabase('sqlite');
});

afterEach(() => database.drop());

async function adopt(...create: readonly string[]): Promise<Adoption> {
  await using(database, {}, async (source) => {
    for (const each of create) await source.query(each);
  });
  const args = ['adopt', '--url', databaseUrl(database.options), '--table', 'orders'];
  const { code, result } = await jsonHere<Adoption>(args);
  expect(code).toBe(0);
  return result;
}

/** What the tables say of themselves, without blanks, quotes and the words that adopting changes. */
const DEFINITIONS =
  "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'migrations%' AND name NOT LIKE 'sqlite%' ORDER BY name";

const plain = (rows: readonly { name: string; sql: string }[]): string[] =>
  rows.map(
    ({ name, sql }) => `${name}: ${sql.replace(/bigint|integer|\bint\b|AUTOINCREMENT|NOT NULL|\(8\)|\s|"/gi, '')}`,
  );

it('changes nothing of a table but the type', async () => {
  const { migration, obstacles, firstNewId } = await adopt(
    `CREATE TABLE orders (
      "id" INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id > -5), -- the key, a number
      title text COLLATE NOCASE DEFAULT 'a, (b', [of "them"] int GENERATED ALWAYS AS (id * 2) STORED,
      twice int AS (length(title)) VIRTUAL, \`n\`\`1\` int UNIQUE ON CONFLICT IGNORE,
      CONSTRAINT 'not x' CHECK (title <> 'x, '')'), CHECK (title <> 'y')
    )`,
    'CREATE TABLE "li""nes" ("o""d" INTEGER(8) REFERENCES orders ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, n int, PRIMARY KEY (n)) WITHOUT ROWID',
    'CREATE TABLE strict (o INT NOT NULL REFERENCES orders (id), t TEXT) STRICT',
    "INSERT INTO orders (id, title, \"n`1\") VALUES (3, 'A', 1), (40, 'b', 2)",
    'INSERT INTO "li""nes" VALUES (40, 1)',
    "INSERT INTO strict (rowid, o, t) VALUES (9, 3, 'a')",
  );
  expect(obstacles).toEqual([]);
  expect(typeErrors([migration])).toEqual([]);
  await using(database, { migration }, async (source) => {
    const before = plain(await source.query(DEFINITIONS));
    await source.runMigrations();
    expect(plain(await source.query(DEFINITIONS))).toEqual(before);
    await expect(source.query("INSERT INTO orders (title) VALUES ('c')")).rejects.toThrow('NOT NULL');
    await expect(source.query("INSERT INTO orders (id, title) VALUES (5, 'x, '')')")).rejects.toThrow('CHECK');
    await source.query(`INSERT INTO orders (id, title) VALUES (${firstNewId}, 'c')`);
    expect(await source.query('SELECT title FROM orders WHERE title = ?', ['a'])).toEqual([{ title: 'A' }]);
    expect(await source.query('SELECT rowid, o FROM strict')).toEqual([{ rowid: 9, o: 3 }]);
    expect(await source.query('SELECT "of ""them""" AS them FROM orders WHERE id = 40')).toEqual([{ them: 80 }]);
    await source.undoLastMigration({ transaction: 'none' });
    expect(plain(await source.query(DEFINITIONS))).toEqual(before);
    await source.query("INSERT INTO orders (title) VALUES ('d')");
    const [row] = await source.query<{ top: string }[]>('SELECT CAST(MAX(id) AS TEXT) AS top FROM orders');
    expect(BigInt(row!.top)).toBe(BigInt(firstNewId) + 1n);
  });
});

it.each([
  { rows: "INSERT INTO orders VALUES (3, 'a'), (1000, 'b')", then: 'DELETE FROM orders WHERE id > 3' },
  { rows: "INSERT INTO orders VALUES (1000, 'a')", then: 'DELETE FROM orders' },
])('a revert makes no key again that was deleted: $then', async ({ rows, then }) => {
  const { migration } = await adopt(
    'CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, title text)',
    ...[rows, then],
  );
  await using(database, { migration }, async (source) => {
    await source.runMigrations();
    await source.undoLastMigration({ transaction: 'none' });
    await source.query("INSERT INTO orders (title) VALUES ('d')");
    expect(await source.query("SELECT id FROM orders WHERE title = 'd'")).toEqual([{ id: 1001 }]);
  });
});

it.each([
  {
    make: "CREATE VIRTUAL TABLE found USING fts5(title, content='orders')",
    named: 'the full-text table found finds rows of orders by their row numbers (rowid)',
  },
  {
    make: 'CREATE VIRTUAL TABLE found USING fts5(title, content = "orders", content_rowid = \'rowid\')',
    named: 'the full-text table found finds rows of orders',
  },
  {
    make: 'CREATE TRIGGER told AFTER INSERT ON orders BEGIN INSERT INTO log VALUES (NEW.RowId); END',
    named: 'the trigger told of orders uses the row number (rowid), which will no longer be the value of orders.id',
  },
  {
    make: 'CREATE VIEW numbered AS SELECT o._rowid_ AS n FROM "orders" o',
    named: 'the view numbered of numbered uses the row number (rowid)',
  },
])('names what finds rows by their numbers: $named', async ({ make, named }) => {
  const { migration, obstacles } = await adopt(
    'CREATE TABLE orders (id INTEGER PRIMARY KEY, title text)',
    'CREATE TABLE log (n int)',
    make,
  );
  expect(obstacles).toEqual([expect.stringContaining(named) as string]);
  await using(database, { migration }, async (source) => {
    await expect(source.runMigrations()).rejects.toThrow(named);
  });
});

it('keeps a full-text table that names the key', async () => {
  const { migration, obstacles, firstNewId } = await adopt(
    'CREATE TABLE orders (id INTEGER PRIMARY KEY, title text)',
    "CREATE VIRTUAL TABLE found USING fts5(title, content = 'orders', content_rowid = 'id')",
    "INSERT INTO orders VALUES (7, 'apples')",
    "INSERT INTO found (rowid, title) VALUES (7, 'apples')",
  );
  expect(obstacles).toEqual([]);
  await using(database, { migration }, async (source) => {
    await source.runMigrations();
    await source.query(`INSERT INTO orders VALUES (${firstNewId}, 'pears')`);
    await source.query(`INSERT INTO found (rowid, title) VALUES (${firstNewId}, 'pears')`);
    expect(await source.query("SELECT title FROM found WHERE found MATCH 'pears'")).toEqual([{ title: 'pears' }]);
    expect(await source.query("SELECT title FROM found WHERE found MATCH 'apples'")).toEqual([{ title: 'apples' }]);
  });
});
