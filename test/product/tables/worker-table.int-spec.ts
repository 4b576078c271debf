import { randomBytes } from 'node:crypto';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { originalInsertSql, originalTableSql, originalTakeSql } from '../../support/stores/original-table.js';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { TableMissingError, type SupportedDatabase, workerTableSql } from '@raindrop/node';
import { workerTableMigration } from '@raindrop/typeorm';
import { onFreshDatabase } from '../../support/stores/fresh-database.js';

const RANGE = { min: 1, max: 4 };

describe.each(kindsInTurn(__filename))('the worker table on %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const stores = onFreshDatabase(kind, (...given) => ([database, admin] = given));

  function open(
    options: Parameters<typeof openStore>[1] = {},
    dataSource = database.options,
  ): ReturnType<typeof openStore> {
    const store = openStore(dataSource, options);
    stores.push(store);
    return store;
  }

  async function runAll(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await admin.query(statement);
  }

  async function expectUsable(store: ReturnType<typeof openStore>, rows = 4): Promise<void> {
    await store.prepare(RANGE);
    await store.rememberLayout('1@0:t41.w10.s12');
    expect(await takeRow(store, 2)).toBe(true);
    const table = await store.readTable();
    expect(table.rows).toHaveLength(rows);
    expect(table.layouts).toEqual(['1@0:t41.w10.s12']);
  }

  it('can be created by hand, after which no rights to create are needed', async () => {
    await runAll(workerTableSql(admin.options.type as SupportedDatabase, 'soc_raindrop_worker'));
    await expectUsable(open({ autoCreateTable: false }));
    // The statements may be run again.
    await runAll(workerTableSql(admin.options.type as SupportedDatabase, 'soc_raindrop_worker'));
    expect((await open().readTable()).rows).toHaveLength(4);
  });

  it('is missing with an error that carries the statements, when it may not be created', async () => {
    const store = open({ autoCreateTable: false });
    const error = await store.prepare(RANGE).catch((reason: unknown) => reason as TableMissingError);
    if (!(error instanceof TableMissingError)) throw new Error('prepare should have failed');
    expect(error).toMatchObject({
      errorCode: 'TABLE_MISSING',
      kind: 'worker',
      retryable: false,
      table: 'soc_raindrop_worker',
    });
    expect(error.missing).toEqual(['soc_raindrop_worker', 'soc_raindrop_worker_layout', 'soc_raindrop_worker_state']);
    expect(error.message).toMatch(
      /are missing.*autoCreateTable is false.*workerTableSql\(\).*workerTableMigration\(\)/,
    );
    await runAll(error.sql);
    await expectUsable(store);
  });

  it('has the indexes of the original', async () => {
    await open().prepare(RANGE);
    const runner = admin.createQueryRunner();
    const table = await runner.getTable('soc_raindrop_worker');
    await runner.release();
    const names = table!.indices.map(({ name }) => name).sort();
    expect(names).toEqual(['idx_soc_raindrop_worker_code', 'idx_soc_raindrop_worker_heartbeat_time']);
  });

  it.each(['a_', 'b_'])('may have a name of 63 characters (%s)', async (prefix) => {
    const tableName = prefix.padEnd(63, 'x');
    await expectUsable(open({ tableName }));
    // A second one in the same schema, of which only the last character differs.
    await expectUsable(open({ tableName: `${tableName.slice(0, 62)}y` }));
  });

  it('may be in a schema that its name says', async () => {
    const schema = {
      sqlite: 'main',
      postgres: 'apart',
      mariadb: database.options.database,
      mysql: database.options.database,
    }[kind];
    if (kind === 'postgres') await admin.query('CREATE SCHEMA apart');
    const tableName = `${String(schema)}.workers`;
    await expectUsable(open({ tableName }));
    await runAll(workerTableSql(admin.options.type as SupportedDatabase, tableName));
    await expectUsable(open({ tableName, autoCreateTable: false }));
  });

  it("of the original's gets our columns and keeps its rows", async () => {
    await runAll([...originalTableSql(kind), originalInsertSql([1, 2, 3])]);
    await runAll([
      originalTakeSql(1, '2024-05-06 07:08:09'),
      'UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = 3',
    ]);
    await Promise.all(Array.from({ length: 8 }, () => open({ adoptForeign: true }).prepare(RANGE)));

    const { rows } = await open().readTable();
    // Row 3 is deleted, and stays so.
    expect(rows.map(({ id }) => id).sort()).toEqual([1, 2, 4]);
    const [foreign, unused] = [rows.find(({ id }) => id === 1)!, rows.find(({ id }) => id === 2)!];
    expect(foreign).toMatchObject({ code: '10.0.0.9#80#1#cc', version: 2, ownVersion: 0, token: '' });
    expect(foreign.heartbeatMs).toBe(Date.UTC(2024, 4, 6, 7, 8, 9));
    expect(unused).toMatchObject({ code: '', version: 1, token: '', heartbeatMs: Date.UTC(2023, 0, 1) });

    // The original's own statements go on working beside us.
    await runAll([originalInsertSql([7]), originalTakeSql(7, '2024-05-06 07:08:09')]);
    const { row } = await open().readRow(7);
    expect(row).toMatchObject({
      version: 2,
      ownVersion: 0,
      leaseUntilMs: 0,
      odometers: [{ sequence: -1 }, { sequence: -1 }],
    });
    await expectUsable(open({ adoptForeign: true }), 4);
  });

  it("of the original's is not altered without permission", async () => {
    await runAll(originalTableSql(kind));
    const error = await open({ autoCreateTable: false })
      .prepare(RANGE)
      .catch((reason: unknown) => reason as TableMissingError);
    expect(error).toMatchObject({ errorCode: 'TABLE_MISSING' });
    expect((error as TableMissingError).missing).toEqual(
      expect.arrayContaining([
        'soc_raindrop_worker.token',
        'soc_raindrop_worker.odo1_seq',
        'soc_raindrop_worker_layout',
      ]),
    );
    await runAll((error as TableMissingError).sql);
    await expectUsable(open({ autoCreateTable: false }));
  });

  it("that is somebody else's is not touched", async () => {
    await admin.query('CREATE TABLE soc_raindrop_worker (id bigint PRIMARY KEY, name varchar(9))');
    await expect(open().prepare(RANGE)).rejects.toMatchObject({
      errorCode: 'NOT_OUR_TABLE',
      missingColumns: expect.arrayContaining(['version', 'del_flag']) as string[],
    });
    // TypeORM 0.3 hands over the driver's own error.
    await expect(admin.query('SELECT token FROM soc_raindrop_worker')).rejects.toHaveProperty(
      'message',
      expect.stringContaining('token'),
    );
  });

  it('with a number beyond 2^53 is refused by row and column', async () => {
    const store = open();
    await store.prepare(RANGE);
    await admin.query('UPDATE soc_raindrop_worker SET odo1_ms = 9007199254740993 WHERE id = 3');
    const corrupt = { errorCode: 'CORRUPT_WORKER_ROW', workerId: 3, column: 'odo1_ms', retryable: false };
    await expect(store.readTable()).rejects.toMatchObject(corrupt);
    await expect(store.readRow(3)).rejects.toMatchObject(corrupt);
    expect((await store.readRow(2)).row).toMatchObject({ id: 2 });
  });

  it.each([
    ['version', '9007199254740993'],
    ['own_version', '-9007199254740993'],
    ['lease_until', '9223372036854775807'],
    ['lane', '2'],
    ['odo0_ms', '9007199254740993'],
    ['odo1_seq', '-9223372036854775807'],
  ])(
    'with %s = %s in a row outside the sample refuses the sample, unless the row is deleted',
    async (column, value) => {
      const store = open();
      await store.prepare(RANGE);
      const request = { workers: { min: 1, max: 1 }, from: 1, atMost: 1, graceMs: 0 };
      expect((await store.readSample(request)).rows).toHaveLength(1);
      await admin.query(`UPDATE soc_raindrop_worker SET ${column} = ${value} WHERE id = 3`);
      const corrupt = { errorCode: 'CORRUPT_WORKER_ROW', workerId: 3, column, retryable: false };
      await expect(store.readSample(request)).rejects.toMatchObject(corrupt);
      await admin.query('UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id = 3');
      expect((await store.readSample(request)).rows).toHaveLength(1);
    },
  );

  it('whose rows name layouts that differ by a space tells of both', async () => {
    const store = open();
    await store.prepare(RANGE);
    await admin.query("UPDATE soc_raindrop_worker SET layout = 'other' WHERE id = 2");
    await admin.query("UPDATE soc_raindrop_worker SET layout = 'other ' WHERE id = 3");
    const { layoutsOfRows } = await store.readSample({ workers: RANGE, from: 1, atMost: 1, graceMs: 0 });
    expect([...layoutsOfRows].sort()).toEqual(['other', 'other ']);
  });

  it('comes and goes with a migration, and is no difference to TypeORM', async () => {
    const migrations = [
      workerTableMigration(),
      workerTableMigration({ tableName: 'others', timestamp: 1_704_067_200_001 }),
    ];
    const source = await new DataSource({ ...database.options, migrations }).initialize();
    const names = (await source.runMigrations()).map(({ name }) => name);
    expect(names).toEqual([
      'CreateWorkerTable_soc_raindrop_worker_1704067200000',
      'CreateWorkerTable_others_1704067200001',
    ]);
    await expectUsable(open({ autoCreateTable: false }));
    await expectUsable(open({ autoCreateTable: false, tableName: 'others' }));
    expect((await source.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await source.undoLastMigration();
    await expect(open({ autoCreateTable: false, tableName: 'others' }).prepare(RANGE)).rejects.toThrow(/missing/);
    expect((await open().readTable()).rows).toHaveLength(4);
    await source.destroy();
  });

  it("of the original's is completed by the migration", async () => {
    await runAll([...originalTableSql(kind), originalInsertSql([1, 2])]);
    const source = await new DataSource({ ...database.options, migrations: [workerTableMigration()] }).initialize();
    await source.runMigrations();
    await source.destroy();
    await expectUsable(open({ autoCreateTable: false }));
  });
});

describe.each(kindsInTurn(__filename).filter((kind) => kind !== 'sqlite'))(
  'an account without rights to create on %s',
  (kind) => {
    const account = `raindrop_${randomBytes(6).toString('hex')}`;
    let database: TestDatabase;
    let admin: DataSource;
    let limited: DataSourceOptions;
    const isPostgres = kind === 'postgres';

    beforeEach(async () => {
      database = await testDatabase(kind);
      admin = await new DataSource(database.options).initialize();
      limited = { ...database.options, username: account, password: 'of-no-worth' } as DataSourceOptions;
      const create = isPostgres
        ? `CREATE ROLE ${account} LOGIN PASSWORD 'of-no-worth'`
        : `CREATE USER ${account} IDENTIFIED BY 'of-no-worth'`;
      await admin.query(create);
    });

    afterEach(async () => {
      if (isPostgres) await admin.query(`DROP OWNED BY ${account}`);
      await admin.query(isPostgres ? `DROP ROLE ${account}` : `DROP USER ${account}`);
      await admin.destroy();
      await database.drop();
    });

    async function grant(): Promise<void> {
      const on = isPostgres ? 'ALL TABLES IN SCHEMA public' : `${String(database.options.database)}.*`;
      await admin.query(`GRANT SELECT, INSERT, UPDATE ON ${on} TO ${account}`);
    }

    it.each([true, false])(
      'keeps workers in tables that somebody created (autoCreateTable %s)',
      async (autoCreateTable) => {
        for (const statement of workerTableSql(admin.options.type as SupportedDatabase, 'soc_raindrop_worker')) {
          await admin.query(statement);
        }
        await grant();
        const store = openStore(limited, { autoCreateTable });
        await store.prepare(RANGE);
        await store.prepare({ min: 0, max: 9 });
        await store.rememberLayout('1@0:t41.w10.s12');
        expect(await takeRow(store, 2)).toBe(true);
        expect((await store.readTable()).rows).toHaveLength(10);
        await store.close();
      },
    );

    it('is told which statements somebody has to run for it', async () => {
      await grant();
      const store = openStore(limited);
      await expect(store.prepare(RANGE)).rejects.toMatchObject({
        errorCode: 'TABLE_MISSING',
        message: expect.stringContaining('its account may not create it') as string,
        sql: workerTableSql(admin.options.type as SupportedDatabase, 'soc_raindrop_worker'),
      });
      await store.close();
    });
  },
);

describe('the migration', () => {
  it.each([123, 1_704_067_200_000.5, Number.NaN])(
    'refuses the timestamp %p, which TypeORM would not find',
    (timestamp) => {
      expect(() => workerTableMigration({ timestamp })).toThrow(
        /timestamp = .* must be Unix milliseconds of 13 digits/,
      );
    },
  );
});

describe("PostgreSQL's schema option", () => {
  it('is where the worker table is, as it is for the entities', async () => {
    const database = await testDatabase('postgres');
    const admin = await new DataSource(database.options).initialize();
    await admin.query('CREATE SCHEMA "my-app"');
    const store = openStore({ ...database.options, schema: 'my-app' } as DataSourceOptions);
    await store.prepare(RANGE);
    expect(await admin.query('SELECT count(*)::int AS n FROM "my-app".soc_raindrop_worker')).toEqual([{ n: 4 }]);
    await store.close();
    await admin.destroy();
    await database.drop();
  });
});
