import type { DataSource } from 'typeorm';
import { databaseUrl } from '../service/service-process.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { using, type Adoption } from './adoption.js';
import { jsonHere } from './cli-in-process.js';
import { typeErrors } from './compiled-migration.js';

const kinds = databaseKinds.filter((kind) => kind === 'mariadb' || kind === 'mysql');

/** Compiled at the end, together. */
const migrations: string[] = [];

describe.each(kinds)('a migration of raindrop adopt on %s', (kind) => {
  let database: TestDatabase;
  let other: TestDatabase;

  beforeEach(async () => {
    [database, other] = [await testDatabase(kind), await testDatabase(kind)];
    await run(
      'CREATE TABLE orders (id int AUTO_INCREMENT PRIMARY KEY, title varchar(9))',
      'CREATE TABLE `lines` (n int PRIMARY KEY, o int, CONSTRAINT f FOREIGN KEY (o) REFERENCES orders (id) ON DELETE CASCADE)',
      "INSERT INTO orders VALUES (1, 'a')",
      'INSERT INTO `lines` VALUES (1, 1)',
    );
  });

  afterEach(async () => {
    await other.drop();
    await database.drop();
  });

  async function run(...statements: readonly string[]): Promise<void> {
    await using(database, {}, async (source) => {
      for (const each of statements) await source.query(each);
    });
  }

  const adopt = async (): Promise<string> => {
    const args = ['adopt', '--url', databaseUrl(database.options), '--table', 'orders'];
    const { code, result } = await jsonHere<Adoption>(args);
    expect(code).toBe(0);
    migrations.push(result.migration);
    return result.migration;
  };

  const nameOf = ({ options }: TestDatabase): string => String(options.database);

  async function typeOf(source: DataSource): Promise<string> {
    const [row] = await source.query<{ Type: string }[]>("SHOW COLUMNS FROM orders LIKE 'id'");
    return row!.Type.replace(/\(\d+\)/, '');
  }

  async function refusesOrphans(source: DataSource, path = '`lines`'): Promise<void> {
    await expect(source.query(`INSERT INTO ${path} (n, o) VALUES (77, 88)`)).rejects.toThrow(/foreign key/i);
  }

  it('keeps the foreign key of another database', async () => {
    const far = `\`${nameOf(other)}\`.\`far\``;
    const refers = `FOREIGN KEY (o) REFERENCES \`${nameOf(database)}\`.orders (id)`;
    await run(
      `CREATE TABLE ${far} (n int PRIMARY KEY, o int, CONSTRAINT g ${refers})`,
      `INSERT INTO ${far} VALUES (1, 1)`,
    );
    const migration = await adopt();
    // In a copy of another name it would change the tables of the one that was looked at.
    await using(other, { migration }, async (source) => {
      await source.query('CREATE TABLE orders (id int PRIMARY KEY)');
      await expect(source.runMigrations()).rejects.toThrow(`refer to those of ${nameOf(database)}`);
      await source.query('DROP TABLE orders');
    });
    await using(database, { migration }, async (source) => {
      await source.runMigrations();
      await refusesOrphans(source, far);
      await source.undoLastMigration();
      await refusesOrphans(source, far);
      await source.query(`DROP TABLE ${far}`);
    });
  });

  it('keeps the history of system-versioned tables', async () => {
    if (kind !== 'mariadb') return;
    await run(
      'ALTER TABLE orders ADD SYSTEM VERSIONING',
      'ALTER TABLE `lines` ADD SYSTEM VERSIONING',
      "UPDATE orders SET title = 'b'",
    );
    const migration = await adopt();
    await using(database, { migration }, async (source) => {
      await source.runMigrations();
      expect(await typeOf(source)).toBe('bigint');
      await refusesOrphans(source);
      expect(await source.query<object[]>('SELECT title FROM orders FOR SYSTEM_TIME ALL ORDER BY 1')).toEqual([
        { title: 'a' },
        { title: 'b' },
      ]);
      await source.undoLastMigration();
      await source.query("INSERT INTO orders (title) VALUES ('c')");
    });
  });

  it('refuses before it changes anything when a table has become system-versioned since', async () => {
    if (kind !== 'mariadb') return;
    const migration = await adopt();
    await run('ALTER TABLE orders ADD SYSTEM VERSIONING');
    await using(database, { migration }, async (source) => {
      await expect(source.runMigrations()).rejects.toThrow('orders is system-versioned by now');
      await refusesOrphans(source);
    });
  });

  it('refuses before it changes anything where a foreign key could not be made again', async () => {
    await using(database, {}, async (source) => {
      const runner = source.createQueryRunner();
      await runner.query('SET foreign_key_checks = 0');
      await runner.query('INSERT INTO `lines` VALUES (2, 9)');
      await runner.query('SET foreign_key_checks = 1');
      await runner.release();
    });
    await using(database, { migration: await adopt() }, async (source) => {
      await expect(source.runMigrations()).rejects.toThrow(
        'the foreign key f of lines could not be made again: some of its rows refer to rows of orders that are not there',
      );
      await refusesOrphans(source);
      expect(await typeOf(source)).toBe('int');
    });
  });

  it('gives the indexes of foreign keys, the options of the tables and the counter back', async () => {
    await run(
      'CREATE TABLE implied (n int PRIMARY KEY, o int, m int, KEY own (m), FOREIGN KEY (o) REFERENCES orders (id), FOREIGN KEY (m) REFERENCES orders (id))',
      "ALTER TABLE orders AUTO_INCREMENT = 1000, COMMENT = 'AUTO_INCREMENT=5 PAGE_CHECKSUM=0'",
      ...(kind === 'mariadb' ? ['ALTER TABLE orders PAGE_CHECKSUM = 1', 'ALTER TABLE implied PAGE_CHECKSUM = 0'] : []),
    );
    // Types and foreign keys are left out, and the order of the lines: no statement sets that of the indexes.
    const shown = async (source: DataSource): Promise<string[]> => {
      const lines: string[] = [];
      for (const table of ['orders', 'implied']) {
        const [row] = await source.query<Record<string, string>[]>(`SHOW CREATE TABLE ${table}`);
        const plain = row!['Create Table']!.replace(/\b(big)?int(\(\d+\))?/g, 'int');
        lines.push(...plain.split(/,?\n/).filter((line) => !line.startsWith('  CONSTRAINT')));
      }
      return lines.sort();
    };
    const migration = await adopt();
    await using(database, { migration }, async (source) => {
      const before = await shown(source);
      await source.runMigrations();
      const counting = / AUTO_INCREMENT(=1000)?(?= |$)/;
      expect(await shown(source)).toEqual(before.map((line) => line.replace(counting, '')).sort());
      await source.undoLastMigration();
      expect(await shown(source)).toEqual(before);
      await source.query("INSERT INTO orders (title) VALUES ('d')");
      expect(await source.query("SELECT id FROM orders WHERE title = 'd'")).toEqual([{ id: '1000' }]);
    });
    // Where a step fails, the index of a foreign key that is made again has its name too.
    const first = /await runner\.query\(`ALTER TABLE \\`orders\\` MODIFY/;
    const failing = migration.replace(first, (sql) => `await runner.query('no'); ${sql}`);
    await using(database, { migration: failing }, async (source) => {
      const before = await shown(source);
      await expect(source.runMigrations()).rejects.toThrow('all that was dropped is there again');
      expect(await shown(source)).toEqual(before);
    });
  });

  it('makes the foreign keys again when a step fails', async () => {
    const migration = await adopt();
    const first = /await runner\.query\(`ALTER TABLE \\`orders\\` MODIFY/;
    expect(migration).toMatch(first);
    await using(
      database,
      { migration: migration.replace(first, (sql) => `await runner.query('no'); ${sql}`) },
      async (source) => {
        await expect(source.runMigrations()).rejects.toThrow('all that was dropped is there again');
        await refusesOrphans(source);
      },
    );
    // Half of the columns were changed: it says by which statement the key is made.
    const second = /await runner\.query\(`ALTER TABLE \\`lines\\` MODIFY/;
    await using(
      database,
      { migration: migration.replace(second, (sql) => `await runner.query('no'); ${sql}`) },
      async (source) => {
        await expect(source.runMigrations()).rejects.toThrow(/foreign key f of .*ADD CONSTRAINT `f` FOREIGN KEY/);
      },
    );
  });

  it.each([
    { what: 'an index', loses: 'DROP INDEX low ON orders', says: 'index low of orders: title A' },
    { what: 'a check', loses: 'ALTER TABLE orders DROP CONSTRAINT high', says: 'constraint high of orders: CHECK' },
    { what: 'a row', loses: 'DELETE FROM `lines`', says: 'rows of lines: 1' },
    { what: 'a comment', loses: 'ALTER TABLE orders MODIFY title varchar(9)', says: 'column orders.title: ' },
  ])('says so when $what is lost', async ({ loses, says }) => {
    await run(
      'CREATE INDEX low ON orders (title)',
      "ALTER TABLE orders ADD CONSTRAINT high CHECK (title <> 'x')",
      "ALTER TABLE orders MODIFY title varchar(9) COMMENT 'a'",
    );
    const migration = await adopt();
    const first = /await runner\.query\(`ALTER TABLE \\`lines\\` MODIFY/;
    const text = migration.replace(first, (sql) => `await runner.query(${JSON.stringify(loses)}); ${sql}`);
    await using(database, { migration: text }, async (source) => {
      await expect(source.runMigrations()).rejects.toThrow(says);
    });
  });
});

it('the migrations are TypeScript that a strict compiler takes', () => {
  expect(typeErrors(migrations.slice(0, 2))).toEqual([]);
});
