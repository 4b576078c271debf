import { DataSource } from 'typeorm';
import { limitedAccount, type ServerOptions } from '../../support/module/limited-account.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { type SupportedDatabase, workerNodeTableSql } from '@raindrop/node';
import { openDisposable, request } from '../../support/stores/open-disposable.js';
import { workerNodeTableMigration } from '@raindrop/typeorm';

const TABLE = 'raindrop_worker_node';

describe.each(databaseKinds)('on %s the table of starts', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await admin.destroy();
    await database.drop();
  });

  const type = (): SupportedDatabase => admin.options.type as SupportedDatabase;
  const next = async (options: { tableName?: string; autoCreateTable?: boolean } = {}): Promise<number> =>
    (await openDisposable(database.options, options).acquire(request)).workerId;

  it('can be created by hand, also twice, after which no rights to create are needed', async () => {
    for (const statement of workerNodeTableSql(type())) await admin.query(statement);
    expect(await next({ autoCreateTable: false })).toBe(1);
    for (const statement of workerNodeTableSql(type())) await admin.query(statement);
    expect(await next()).toBe(2);
  });

  it('is missing with an error that carries the statements, when it may not be created', async () => {
    await expect(next({ autoCreateTable: false })).rejects.toMatchObject({
      errorCode: 'TABLE_MISSING',
      retryable: false,
      table: TABLE,
      sql: workerNodeTableSql(type()),
      message: expect.stringMatching(
        /autoCreateTable is false.*workerNodeTableSql\(\).*workerNodeTableMigration\(\)/,
      ) as string,
    });
  });

  it("is not touched when it is somebody else's", async () => {
    await admin.query(`CREATE TABLE ${TABLE} (id int PRIMARY KEY, port varchar(9))`);
    await expect(next()).rejects.toMatchObject({
      errorCode: 'NOT_OUR_TABLE',
      retryable: false,
      message: expect.stringContaining('it lacks host_name, type, launch_date') as string,
    });
  });

  it('may have a long name, and be in a schema that its name says', async () => {
    const server = String(database.options.database);
    const schema = { sqlite: 'main', postgres: 'apart', mariadb: server, mysql: server }[kind];
    if (kind === 'postgres') await admin.query('CREATE SCHEMA apart');
    const tableName = `${schema}.${'x'.repeat(63)}`;
    expect([await next({ tableName }), await next({ tableName, autoCreateTable: false })]).toEqual([1, 2]);
    expect(() => openDisposable(database.options, { tableName: 'a; b' })).toThrow(/not a table name/);
  });

  it('comes and goes with a migration, and is no difference to TypeORM', async () => {
    const source = await new DataSource({ ...database.options, migrations: [workerNodeTableMigration()] }).initialize();
    expect((await source.runMigrations()).map(({ name }) => name)).toEqual([
      'CreateWorkerNodeTable_raindrop_worker_node_1704067202000',
    ]);
    expect(await next({ autoCreateTable: false })).toBe(1);
    expect((await source.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    await source.undoLastMigration();
    await expect(next({ autoCreateTable: false })).rejects.toMatchObject({ errorCode: 'TABLE_MISSING' });
    await source.destroy();
    expect(() => workerNodeTableMigration({ timestamp: 12 })).toThrow(/13 digits/);
  });

  it('is made by an account with the rights, and others are told the statements', async () => {
    if (kind === 'sqlite') return;
    const account = await limitedAccount(kind, database.options as ServerOptions, 'of-no-worth');
    await expect(openDisposable(account.options).acquire(request)).rejects.toMatchObject({
      errorCode: 'TABLE_MISSING',
      message: expect.stringContaining('its account may not create it') as string,
    });
    await next();
    if (kind === 'postgres') await admin.query(`GRANT SELECT ON ${TABLE} TO ${account.options.username}`);
    await expect(openDisposable(account.options).acquire(request)).rejects.toMatchObject({
      errorCode: 'DATABASE_REFUSED',
      refusal: 'rights',
      retryable: false,
    });
    await database.drop();
    await account.drop();
  });

  it("may be uid-generator's own, whose numbers go on", async () => {
    if (kind !== 'mariadb' && kind !== 'mysql') return;
    await admin.query(`CREATE TABLE WORKER_NODE (
      ID BIGINT NOT NULL AUTO_INCREMENT, HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL,
      LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL, PRIMARY KEY (ID))`);
    await admin.query(
      `INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ('a', '1-2', 2, NOW(), NOW(), NOW())`,
    );
    expect(await next({ tableName: 'WORKER_NODE' })).toBe(2);
  });
});
