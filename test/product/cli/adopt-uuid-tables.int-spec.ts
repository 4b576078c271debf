import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { databaseUrl } from '../service/service-process.js';
import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
} from '../../support/servers/test-databases.js';
import { using } from './adoption.js';
import { jsonHere, raindropHere } from './cli-in-process.js';
import { compiledMigration, typeErrors } from './compiled-migration.js';
import { inPieces } from './in-pieces.js';
import { KEYS, type UuidAdoption } from './uuid-adoption.js';
import { definitionOf, isServer, type KeyType } from './uuid-shop.js';
import { queryAgain } from './uuid-writer.js';

/**
 * Users and orders refer to each other, users to users, files to both; the key of a profile is that of its user. Notes
 * and members are not named: they refer to two keys at once.
 */
function tables(kind: DatabaseKind, { type }: KeyType): string[] {
  const moment = kind === 'postgres' ? 'timestamp' : 'datetime';
  return [
    `CREATE TABLE users (id ${type} NOT NULL PRIMARY KEY, made ${moment} NOT NULL, boss_id ${type} NULL, latest_id ${type} NULL, ` +
      'CONSTRAINT of_boss FOREIGN KEY (boss_id) REFERENCES users (id) ON DELETE SET NULL)',
    `CREATE TABLE orders (id ${type} NOT NULL PRIMARY KEY, made ${moment} NOT NULL, user_id ${type} NOT NULL, ` +
      'CONSTRAINT of_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE)',
    'ALTER TABLE users ADD CONSTRAINT of_latest FOREIGN KEY (latest_id) REFERENCES orders (id) ON DELETE SET NULL',
    `CREATE TABLE files (id ${type} NOT NULL PRIMARY KEY, made ${moment} NOT NULL, user_id ${type} NOT NULL, order_id ${type} NOT NULL, ` +
      'CONSTRAINT one_file UNIQUE (user_id, order_id), CONSTRAINT file_user FOREIGN KEY (user_id) REFERENCES users (id), ' +
      'CONSTRAINT file_order FOREIGN KEY (order_id) REFERENCES orders (id))',
    `CREATE TABLE profiles (id ${type} NOT NULL PRIMARY KEY, n int, ` +
      'CONSTRAINT profile_of FOREIGN KEY (id) REFERENCES users (id))',
    `CREATE TABLE notes (n int PRIMARY KEY, user_id ${type}, order_id ${type}, profile_id ${type}, ` +
      'CONSTRAINT of_file FOREIGN KEY (user_id, order_id) REFERENCES files (user_id, order_id) ON DELETE CASCADE, ' +
      'CONSTRAINT of_profile FOREIGN KEY (profile_id) REFERENCES profiles (id))',
    `CREATE TABLE members (user_id ${type} NOT NULL, order_id ${type} NOT NULL, PRIMARY KEY (user_id, order_id), ` +
      'CONSTRAINT member_user FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE, ' +
      'CONSTRAINT member_order FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE)',
  ];
}

const TABLES = ['users', 'orders', 'files', 'profiles', 'notes', 'members'];

/** Rows of every table for each pair of a user and an order, as an application with UUIDs writes them. */
async function fill(source: DataSource, users: readonly string[], orders: readonly string[]): Promise<void> {
  const write = (sql: string): Promise<unknown> => queryAgain(source, sql);
  const when = (at: number): string => `2024-01-01 00:00:${String(at).padStart(2, '0')}`;
  for (const [at, user] of [...users.entries()].reverse()) {
    await write(`INSERT INTO users (id, made) VALUES ('${user}', '${when(at)}')`);
  }
  for (const [at, order] of [...orders.entries()].reverse()) {
    const user = users[(at * 3) % users.length]!;
    await write(`INSERT INTO orders (id, made, user_id) VALUES ('${order}', '${when(at)}', '${user}')`);
    await write(
      `INSERT INTO files (id, made, user_id, order_id) VALUES ('${randomUUID()}', '${when(at)}', '${user}', '${order}')`,
    );
    await write(`INSERT INTO members (user_id, order_id) VALUES ('${user}', '${order}')`);
  }
  for (const [at, user] of users.entries()) {
    const order = orders[(at * 5) % orders.length]!;
    const boss = users[Math.floor(at / 2)]!;
    await write(`UPDATE users SET boss_id = '${boss}', latest_id = '${order}' WHERE id = '${user}'`);
    await write(`INSERT INTO profiles (id, n) VALUES ('${user}', ${at})`);
  }
  await write(
    'INSERT INTO notes (n, user_id, order_id, profile_id) SELECT COALESCE((SELECT MAX(n) FROM notes), 0) + ROW_NUMBER() OVER (ORDER BY f.id), f.user_id, f.order_id, f.user_id ' +
      'FROM files f WHERE NOT EXISTS (SELECT 1 FROM notes o WHERE o.user_id = f.user_id AND o.order_id = f.order_id)',
  );
}

/** Enough rows that numbering them takes a while. */
async function fillMany(source: DataSource, kind: DatabaseKind): Promise<void> {
  if (kind === 'mysql') return;
  const [uuid, from] =
    kind === 'postgres' ? ['gen_random_uuid()', 'generate_series(1, 5000) n'] : ['uuid()', 'seq_1_to_5000'];
  const rows = "WHERE made = '2024-06-01'";
  await source.query(`INSERT INTO users (id, made) SELECT ${uuid}, '2024-06-01' FROM ${from}`);
  await source.query(`INSERT INTO profiles (id) SELECT id FROM users ${rows}`);
  await source.query(`INSERT INTO orders (id, made, user_id) SELECT ${uuid}, made, id FROM users ${rows}`);
  await source.query(
    `INSERT INTO files (id, made, user_id, order_id) SELECT ${uuid}, made, user_id, id FROM orders ${rows}`,
  );
}

/** Everything in the tables, with keys as the UUIDs that they are, or have been. */
async function content(source: DataSource, kind: DatabaseKind, uuid: 'id' | 'id_uuid'): Promise<unknown> {
  const text = (name: string): string => (kind === 'postgres' ? `${name}.${uuid}::text` : `${name}.${uuid}`);
  const found: unknown[] = [];
  for (const sql of [
    `SELECT ${text('u')} AS a, ${text('b')} AS b, ${text('o')} AS c, u.made FROM users u LEFT JOIN users b ON b.id = u.boss_id LEFT JOIN orders o ON o.id = u.latest_id ORDER BY 1`,
    `SELECT ${text('o')} AS a, ${text('u')} AS b, o.made FROM orders o JOIN users u ON u.id = o.user_id ORDER BY 1`,
    `SELECT ${text('f')} AS a, ${text('u')} AS b, ${text('o')} AS c FROM files f JOIN users u ON u.id = f.user_id JOIN orders o ON o.id = f.order_id ORDER BY 1`,
    `SELECT ${text('u')} AS a, p.n FROM profiles p JOIN users u ON u.id = p.id ORDER BY 1, 2`,
    `SELECT n.n, ${text('f')} AS a, ${text('u')} AS b FROM notes n JOIN files f ON f.user_id = n.user_id AND f.order_id = n.order_id JOIN profiles p ON p.id = n.profile_id JOIN users u ON u.id = p.id ORDER BY 1`,
    `SELECT ${text('u')} AS a, ${text('o')} AS b FROM members m JOIN users u ON u.id = m.user_id JOIN orders o ON o.id = m.order_id ORDER BY 1, 2`,
  ]) {
    found.push(await source.query(sql));
  }
  return found;
}

const uuids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

/** Compiled at the end, together. */
const migrations: string[] = [];

beforeAll(() => {
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
});

describe.each(databaseKinds.filter(isServer))('raindrop adopt --from uuid of several tables on %s', (kind) => {
  let database: TestDatabase;
  let source: DataSource;
  const [users, orders] = [uuids(7), uuids(20)];

  beforeEach(async () => {
    database = await testDatabase(kind);
    source = new DataSource(database.options);
    await using(database, {}, async (base) => {
      for (const each of tables(kind, KEYS[kind][0]!)) await base.query(each);
      await fill(base, users, orders);
    });
  });

  afterEach(async () => {
    if (source.isInitialized) await source.destroy();
    await database.drop();
  });

  const adopt = async (names: string, orderBy = 'made'): Promise<UuidAdoption> => {
    const args = ['adopt', '--url', databaseUrl(database.options), '--from', 'uuid', '--table', names];
    const { code, result } = await jsonHere<UuidAdoption>([...args, '--order-by', orderBy]);
    expect(code).toBe(0);
    return result;
  };

  const open = async (names: string, orderBy?: string): Promise<UuidAdoption> => {
    const result = await adopt(names, orderBy);
    const texts = result.migrations.map(({ migration }) => migration);
    migrations.push(...texts);
    source = await new DataSource({ ...database.options, migrations: texts.map(compiledMigration) }).initialize();
    return result;
  };

  const state = async (): Promise<unknown[]> => [
    await content(source, kind, 'id'),
    await definitionOf(source, kind, TABLES),
  ];

  it('writes two migrations in all, which number the rows of every table, and go back', async () => {
    const { keys, references, migrations: files, firstNewId } = await open('users,orders,files,profiles');
    expect(files).toHaveLength(2);
    expect(keys.map(({ table, rows, keeps }) => [table, rows, keeps])).toEqual([
      ['users', '7', 'id_uuid'],
      ['orders', '20', 'id_uuid'],
      ['files', '20', 'id_uuid'],
    ]);
    expect(references.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([
      ...['files.order_id', 'files.user_id', 'members.order_id', 'members.user_id', 'notes.order_id'],
      ...['notes.profile_id', 'notes.user_id', 'orders.user_id', 'profiles.id', 'users.boss_id', 'users.latest_id'],
    ]);
    const [before, definition] = await state();
    for (let time = 0; time < 2; time++) {
      await source.runMigrations({ transaction: 'none' });
      expect(await content(source, kind, 'id_uuid')).toEqual(before);
      for (const [table, made] of [
        ['users', users],
        ['orders', orders],
      ] as const) {
        const found = await source.query<Record<'id' | 'id_uuid', string>[]>(`SELECT * FROM ${table} ORDER BY made`);
        const first = Number(found[0]!.id);
        expect(found.map((each) => [each.id_uuid, Number(each.id)])).toEqual(
          made.map((each, at) => [each, first + at]),
        );
      }
      await expectRules(firstNewId);
      await source.undoLastMigration({ transaction: 'none' });
      await source.undoLastMigration({ transaction: 'none' });
      expect(await state()).toEqual([before, definition]);
    }
  });

  /** What the tables hold to, with rows of Raindrop's; they are gone afterwards. */
  async function expectRules(id: string): Promise<void> {
    const refused = async (sql: string): Promise<void> => {
      await expect(source.query(sql)).rejects.toThrow(/foreign key|duplicate/i);
    };
    await source.query(`INSERT INTO users (id, made) VALUES (${id}, '2025-01-01')`);
    await source.query(`INSERT INTO orders (id, made, user_id) VALUES (${id}, '2025-01-01', ${id})`);
    await source.query(`UPDATE users SET latest_id = ${id} WHERE id = ${id}`);
    await source.query(`INSERT INTO files (id, made, user_id, order_id) VALUES (${id}, '2025-01-01', ${id}, ${id})`);
    await source.query(`INSERT INTO profiles (id) VALUES (${id})`);
    await source.query(`INSERT INTO notes (n, user_id, order_id, profile_id) VALUES (900, ${id}, ${id}, ${id})`);
    await source.query(`INSERT INTO members (user_id, order_id) VALUES (${id}, ${id})`);
    await refused(`INSERT INTO orders (id, made, user_id) VALUES (${id}1, '2025-01-01', ${id}1)`);
    await refused(`INSERT INTO files (id, made, user_id, order_id) VALUES (${id}1, '2025-01-01', ${id}, ${id})`);
    await refused(`INSERT INTO members (user_id, order_id) VALUES (${id}, ${id})`);
    await refused(`INSERT INTO profiles (id) VALUES (${id}1)`);
    await refused(`INSERT INTO notes (n, user_id, order_id) VALUES (901, ${id}, ${id}1)`);
    await refused(`UPDATE users SET latest_id = ${id}1 WHERE id = ${id}`);
    await refused(`DELETE FROM users WHERE id = ${id}`);
    await source.query(`DELETE FROM files WHERE id = ${id}`);
    expect(await source.query<object[]>('SELECT 1 FROM notes WHERE n = 900')).toEqual([]);
    await source.query(`DELETE FROM profiles WHERE id = ${id}`);
    await source.query(`DELETE FROM users WHERE id = ${id}`);
    expect(await source.query<object[]>(`SELECT 1 FROM members WHERE user_id = ${id}`)).toEqual([]);
  }

  it('numbers what is written between the two, in whatever order tables refer to each other', async () => {
    await using(database, {}, (base) => fillMany(base, kind));
    await open('orders,files,users');
    const [number, swap] = source.migrations;
    const runner = source.createQueryRunner();
    let isNumbered = false;
    const numbering = number!.up(runner).finally(() => (isNumbered = true));
    let written = 0;
    do {
      await fill(source, uuids(3), uuids(5));
      written++;
    } while (!isNumbered || written < 2);
    await numbering;
    await fill(source, uuids(3), uuids(5));
    const own = randomUUID();
    await source.query(`INSERT INTO users (id, made, boss_id) VALUES ('${own}', '2025-01-01', '${own}')`);
    await source.query(`UPDATE orders SET user_id = '${own}' WHERE id = '${orders[0]!}'`);
    await source.query(`DELETE FROM files WHERE order_id = '${orders[1]!}'`);
    await source.query(`DELETE FROM orders WHERE id = '${orders[1]!}'`);
    const before = await content(source, kind, 'id');
    await swap!.up(runner);
    expect(await content(source, kind, 'id_uuid')).toEqual(before);
    await swap!.down(runner);
    expect(await content(source, kind, 'id')).toEqual(before);
    await runner.release();
  });

  it('sorts each table by a column of its own, and says which key follows another', async () => {
    const { keys } = await adopt('users,profiles,orders', 'made,n,id');
    expect(keys.map(({ table, order }) => [table, order])).toEqual([
      ['users', 'by made, then by the UUID'],
      ['orders', 'by id, then by the UUID'],
    ]);
    const args = [
      'adopt',
      '--url',
      databaseUrl(database.options),
      '--from',
      'uuid',
      '--table',
      'users,profiles,orders',
    ];
    const { stderr } = await raindropHere([...args, '--order-by', 'id']);
    expect(stderr).toContain(
      'profiles.id refers to users.id: it gets the numbers of that key, and no id_uuid of its own',
    );
    expect(stderr).toContain('the UUIDs are kept in id_uuid\n');
    const layout = ['--time-unit', 'day', '--timestamp-bits', '30', '--worker-bits', '10'];
    const [day] = new Date().toISOString().split('T') as [string];
    expect(await raindropHere([...args, '--order-by', 'id', ...layout, '--start', day])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('orders has 20 rows, whose numbers') as string,
    });
  });

  it('takes back and swaps nothing of any table when something is missing of one', async () => {
    await open('users,orders,files');
    const [number, swap] = source.migrations;
    const before = await content(source, kind, 'id');
    const runner = source.createQueryRunner();
    await number!.up(runner);
    await runner.query('ALTER TABLE profiles DROP COLUMN raindrop_id');
    await expect(swap!.up(runner)).rejects.toThrow('profiles has no column raindrop_id: the first migration has');
    expect(await content(source, kind, 'id')).toEqual(before);
    await number!.down(runner);
    await number!.up(runner);
    await swap!.up(runner);
    await expect(number!.down(runner)).rejects.toThrow('users still has a column id_uuid: revert the other migration');
    await runner.query('ALTER TABLE orders DROP COLUMN id_uuid');
    await expect(swap!.down(runner)).rejects.toThrow('orders has no column id_uuid any more, and its keys are numbers');
    expect(await runner.query('SELECT id_uuid FROM users')).toHaveLength(users.length);
    await runner.release();
  });

  it('tells tables of one name in two schemas apart', async () => {
    if (kind !== 'postgres') return;
    await using(database, {}, async (base) => {
      await base.query('CREATE SCHEMA old');
      await base.query('CREATE TABLE old.users (id uuid PRIMARY KEY, user_id uuid REFERENCES public.users (id))');
      for (const each of users) await base.query(`INSERT INTO old.users VALUES ('${randomUUID()}', '${each}')`);
    });
    await open('users,old.users', 'made,id');
    const sql = (uuid: string): string =>
      `SELECT o.${uuid} AS a, u.${uuid} AS b FROM old.users o JOIN users u ON u.id = o.user_id ORDER BY 1`;
    const before = await source.query<object[]>(sql('id'));
    await source.runMigrations({ transaction: 'none' });
    const after = await source.query<Record<'a' | 'b', string>[]>(sql('id_uuid'));
    expect(after).toEqual(before);
    await source.undoLastMigration({ transaction: 'none' });
    await source.undoLastMigration({ transaction: 'none' });
    expect(await source.query<object[]>(sql('id'))).toEqual(before);
    expect(await source.query<object[]>("SELECT 1 FROM pg_class WHERE relname LIKE 'raindrop%'")).toEqual([]);
  });

  it('goes on where it ended, there and back', async () => {
    await open('profiles,users,files,orders');
    const [before, definition] = await state();
    expect(await inPieces(source, () => source.runMigrations({ transaction: 'none' }))).toBeGreaterThan(10);
    expect(await content(source, kind, 'id_uuid')).toEqual(before);
    expect(await inPieces(source, () => source.undoLastMigration({ transaction: 'none' }))).toBeGreaterThan(2);
    expect(await inPieces(source, () => source.undoLastMigration({ transaction: 'none' }))).toBeGreaterThan(0);
    expect(await state()).toEqual([before, definition]);
  });

  it('can be taken back before the swap', async () => {
    await open('users,orders,files');
    const before = await state();
    const [number] = source.migrations;
    const runner = source.createQueryRunner();
    await number!.up(runner);
    await number!.down(runner);
    await runner.release();
    expect(await state()).toEqual(before);
  });
});

it('the migrations are TypeScript that a strict compiler takes', () => {
  expect(migrations.length).toBeGreaterThan(0);
  expect(typeErrors(migrations.slice(0, 4))).toEqual([]);
});
