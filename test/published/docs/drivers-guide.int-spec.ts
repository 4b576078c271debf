import Sqlite, { type Database } from 'better-sqlite3';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { readDocument, runBlock, typescriptBlocks } from './typescript-blocks.js';

const TABLES = [...readDocument('docs/drivers.md').matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql]) => sql!);
const DRIVERS = ['pg', 'mysql2', 'better-sqlite3'];
const { ids } = createTestIdService({ now: Date.now() });

/** What a recipe of docs/drivers.md exports, with the table that it shows. */
function recipe(driver: string, scope: object = {}): { sql: string; functions: Record<string, unknown> } {
  const [block] = typescriptBlocks(readDocument(`docs/drivers.md#${driver}`));
  return { sql: TABLES[DRIVERS.indexOf(driver)]!, functions: runBlock(block!, { ids, ...scope }) };
}

interface Recipe<Connection> {
  insertOrder(pool: Connection, code: string, customer: string): Promise<string>;
  insertOrders(pool: Connection, codes: string[], customer: string): Promise<string[]>;
  saveOrder(pool: Connection, code: string, customer: string): Promise<string>;
}

/** The keys that the recipe has given back, in the order of their codes. */
async function inserted<Connection>(functions: Recipe<Connection>, pool: Connection): Promise<string[]> {
  const first = await functions.insertOrder(pool, 'a', 'Ada');
  const more = await functions.insertOrders(pool, ['b', 'c'], 'Bob');
  expect(await functions.saveOrder(pool, 'b', 'Cleo')).toBe(more[0]);
  return [first, ...more, await functions.saveOrder(pool, 'd', 'Dan')];
}

async function stored({ kind, options }: TestDatabase): Promise<string[]> {
  const source = await new DataSource(options).initialize();
  const text = kind === 'postgres' || kind === 'sqlite' ? 'text' : 'char';
  const rows = await source.query<{ id: string }[]>(`SELECT cast(id AS ${text}) AS id FROM orders ORDER BY code`);
  await source.destroy();
  return rows.map(({ id }) => id);
}

describe('docs/drivers.md', () => {
  let database: TestDatabase;
  afterEach(() => database.drop());

  it('has a recipe for pg', async () => {
    database = await testDatabase('postgres');
    const {
      host,
      port,
      username: user,
      password,
      database: name,
    } = database.options as unknown as Record<string, never>;
    const pool = new Pool({ host, port, user, password, database: name });
    const { sql, functions } = recipe('pg');
    await pool.query(sql);
    const keys = await inserted(functions as unknown as Recipe<Pool>, pool);
    await expect(pool.query(`INSERT INTO orders (code, customer) VALUES ('e', 'Eve')`)).rejects.toThrow('null');
    await pool.end();
    expect(await stored(database)).toEqual(keys);
  });

  it.each(databaseKinds.filter((kind) => kind === 'mariadb' || kind === 'mysql'))(
    'has a recipe for mysql2, on %s',
    async (kind) => {
      database = await testDatabase(kind);
      const { host, port, username, password, database: name } = database.options as unknown as Record<string, string>;
      const { sql, functions } = recipe('mysql2', { createPool });
      const own = functions as unknown as Recipe<ReturnType<typeof createPool>> & { openPool: typeof createPool };
      const pool = own.openPool(
        `mysql://${username}:${encodeURIComponent(password!)}@${host}:${port}/${name}` as never,
      );
      await pool.query(sql);
      const keys = await inserted(own, pool);
      const [rows] = await pool.query('SELECT id FROM orders ORDER BY code');
      expect(rows).toEqual(keys.map((id) => ({ id })));
      await expect(pool.query(`INSERT INTO orders (code, customer) VALUES ('e', 'Eve')`)).rejects.toThrow('default');
      await pool.end();
      expect(await stored(database)).toEqual(keys);
    },
  );

  it('has a recipe for better-sqlite3', async () => {
    database = await testDatabase('sqlite');
    const db = new Sqlite(String(database.options.database));
    const { sql, functions } = recipe('better-sqlite3');
    const { insertOrders, saveOrder } = functions as {
      insertOrders(db: Database, codes: string[], customer: string): bigint[];
      saveOrder(db: Database, code: string, customer: string): bigint;
    };
    db.exec(sql);
    const keys = insertOrders(db, ['a', 'b'], 'Ada');
    expect(saveOrder(db, 'b', 'Bob')).toBe(keys[1]);
    keys.push(saveOrder(db, 'c', 'Cleo'));
    expect(() => db.exec(`INSERT INTO orders (code, customer) VALUES ('e', 'Eve')`)).toThrow('NOT NULL');
    db.close();
    expect(await stored(database)).toEqual(keys.map(String));
  });
});
