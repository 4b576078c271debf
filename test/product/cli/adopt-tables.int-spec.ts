import type { DataSource } from 'typeorm';
import { databaseUrl } from '../service/service-process.js';
import {
  databaseKinds,
  testDatabase,
  type DatabaseKind,
  type TestDatabase,
} from '../../support/servers/test-databases.js';
import { using, type Adoption } from './adoption.js';
import { jsonHere, raindropHere } from './cli-in-process.js';
import { typeErrors } from './compiled-migration.js';

const COUNTED: Readonly<Record<DatabaseKind, string>> = {
  mariadb: 'int NOT NULL AUTO_INCREMENT PRIMARY KEY',
  mysql: 'int NOT NULL AUTO_INCREMENT PRIMARY KEY',
  postgres: 'serial PRIMARY KEY',
  sqlite: 'integer PRIMARY KEY AUTOINCREMENT',
};

/** Keys that refer to one another over composite, crossed and own references, and columns that only look so. */
function tables(kind: DatabaseKind): string[] {
  const counted = COUNTED[kind];
  const quote = kind === 'postgres' || kind === 'sqlite' ? '"' : '`';
  return [
    `CREATE TABLE tenants (id ${counted}, parent_id int, CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES tenants (id))`,
    'CREATE TABLE users (tenant_id int NOT NULL, uid int NOT NULL, name varchar(9), PRIMARY KEY (tenant_id, uid), ' +
      'CONSTRAINT of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id) ON DELETE CASCADE)',
    `CREATE TABLE ${quote}Order Files${quote} (id ${counted}, tenant_id int, owner int, ${quote}userId${quote} int, actor_id int, ` +
      'order_file_id int, session_id int, note_id varchar(9), ' +
      'CONSTRAINT of_user FOREIGN KEY (tenant_id, owner) REFERENCES users (tenant_id, uid))',
    'CREATE TABLE profiles (id int NOT NULL PRIMARY KEY, CONSTRAINT same FOREIGN KEY (id) REFERENCES tenants (id))',
    `CREATE TABLE sessions (id ${counted})`,
    'INSERT INTO tenants (id, parent_id) VALUES (1, NULL), (7, 1)',
    "INSERT INTO users VALUES (7, 30, 'Ada')",
    `INSERT INTO ${quote}Order Files${quote} (id, tenant_id, owner, actor_id) VALUES (9, 7, 30, 30)`,
    'INSERT INTO profiles VALUES (7)',
    ...(kind === 'postgres' ? ["SELECT setval('tenants_id_seq', 7)"] : []),
  ];
}

const TABLES = 'tenants, users,"Order Files",profiles';

/** Compiled at the end, together. */
const migrations: string[] = [];

describe.each(databaseKinds)('raindrop adopt of several tables on %s', (kind) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await testDatabase(kind);
    await using(database, {}, async (dataSource) => {
      for (const each of tables(kind)) await dataSource.query(each);
    });
  });

  afterEach(() => database.drop());

  const adopt = (...args: string[]): string[] => ['adopt', '--url', databaseUrl(database.options), ...args];
  const all = ['--table', TABLES, '--column', 'id,uid,id,id'];

  it('makes one layout and one migration, with every foreign key as it was', async () => {
    const { code, result } = await jsonHere<Adoption>(adopt(...all));
    expect({ code, highest: result.highest, keepsNumbers: result.keepsNumbers }).toEqual({
      code: 0,
      highest: '30',
      keepsNumbers: true,
    });
    expect(result.keys.map(({ table, column, isGenerated, highest }) => [table, column, isGenerated, highest])).toEqual(
      [
        ['tenants', 'id', true, '7'],
        ['users', 'uid', false, '30'],
        ['Order Files', 'id', true, '9'],
        ['profiles', 'id', false, '7'],
      ],
    );
    expect(result.references.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([
      ...['Order Files.owner', 'Order Files.tenant_id', 'tenants.parent_id', 'users.tenant_id'],
    ]);
    expect(result.mustWiden).toHaveLength(8);
    migrations.push(result.migration);
    const { migration, firstNewId } = result;
    const next = (BigInt(firstNewId) + 1n).toString();
    await using(database, { migration }, async (dataSource) => {
      await dataSource.runMigrations();
      const files = kind === 'postgres' || kind === 'sqlite' ? '"Order Files"' : '`Order Files`';
      await dataSource.query(`INSERT INTO tenants (id, parent_id) VALUES (${firstNewId}, 7)`);
      await dataSource.query(`INSERT INTO users VALUES (${firstNewId}, ${next}, 'Grace')`);
      await dataSource.query(`INSERT INTO ${files} (id, tenant_id, owner) VALUES (${next}, ${firstNewId}, ${next})`);
      for (const wrong of [
        `INSERT INTO ${files} (id, tenant_id, owner) VALUES (5, 7, ${next})`,
        `INSERT INTO users VALUES (${next}, 1, 'Eve')`,
        `INSERT INTO tenants (id, parent_id) VALUES (3, 4)`,
      ]) {
        await expect(dataSource.query(wrong)).rejects.toThrow(/foreign key/i);
      }
      await dataSource.undoLastMigration({ transaction: kind === 'sqlite' ? 'none' : 'all' });
      await dataSource.query('INSERT INTO tenants (parent_id) VALUES (7)');
      expect(await highest(dataSource, 'tenants')).toBe(next);
      expect(await highest(dataSource, files)).toBe(next);
      await dataSource.query(`INSERT INTO ${files} (tenant_id) VALUES (7)`);
      await expect(dataSource.query("INSERT INTO users (tenant_id, name) VALUES (1, 'Eve')")).rejects.toThrow();
    });
  });

  it('lists columns that only look like references, says the rate, and offers numbers first', async () => {
    const { loose } = (await jsonHere<Adoption>(adopt(...all))).result;
    expect(loose.map(({ table, column, perhaps }) => [`${table}.${column}`, perhaps])).toEqual([
      ['Order Files.userId', 'users.uid'],
      ['Order Files.actor_id', null],
    ]);
    const { stderr, stdout } = await raindropHere(adopt(...all));
    expect(stderr).toContain('Order Files.userId (perhaps users.uid), Order Files.actor_id');
    expect(stderr).toMatch(/rate: 8,192 IDs per second for each worker; workers 1 to 255/);
    expect(stderr).toContain(`keys stay numbers: @GeneratedSnowflake({ as: 'number' }) id!: number`);
    expect(stdout).toContain('Left as it is, for no foreign key names it: Order Files.actor_id (');
  });

  it('refuses a key that refers to one that is not among them', async () => {
    const { code, stderr } = await raindropHere(adopt('--table', 'sessions,profiles'));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('profiles.id refers to tenants') as string,
    });
  });

  it('changes nothing when one of the keys has grown past the first new ID', async () => {
    const { migration, firstNewId } = (await jsonHere<Adoption>(adopt(...all))).result;
    const grown = migration.replaceAll(`${firstNewId}n`, '30n');
    await using(database, { migration: grown }, async (dataSource) => {
      await expect(dataSource.runMigrations()).rejects.toThrow('users.uid has keys of');
      await dataSource.query('INSERT INTO tenants (parent_id) VALUES (7)');
      expect(await highest(dataSource, 'tenants')).toBe('8');
    });
  });
});

async function highest(dataSource: DataSource, table: string): Promise<string> {
  const [row] = await dataSource.query<{ top: string | number }[]>(`SELECT MAX(id) AS top FROM ${table}`);
  return String(row!.top);
}

it('the migrations are TypeScript that a strict compiler takes', () => {
  expect(migrations.length).toBeGreaterThan(0);
  expect(typeErrors(migrations)).toEqual([]);
});
