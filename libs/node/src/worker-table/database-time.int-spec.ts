import { DataSource, type DataSourceOptions } from 'typeorm';
import { wallClock } from '@raindrop/core/internal';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { originalTakeSql } from '../../../../test/support/stores/original-table.js';
import type { PrivateServer } from '../../../../test/support/servers/private-server.js';
import { startMariadb } from '../../../../test/support/servers/private-servers.js';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { expectSince } from '../../../../test/support/expect-since.js';

const HOUR = 3_600_000;

/** The times of a row as the store says them, and their distance from this host's. */
async function expectRightTimes(dataSource: DataSourceOptions, foreignTimeZone?: string): Promise<void> {
  const store = openStore(dataSource, foreignTimeZone === undefined ? {} : { foreignTimeZone });
  await store.prepare({ min: 1, max: 2 });
  expect((await store.readRow(2)).row!.heartbeatMs).toBeLessThan(Date.UTC(2023, 0, 2));
  const before = Date.now();
  expect(await takeRow(store, 1)).toBe(true);
  const { nowMs, row } = await store.readRow(1);
  for (const time of [nowMs, row!.leaseUntilMs - 60_000, row!.heartbeatMs]) expectSince(before, time);
  await store.close();
}

describe('times on a MariaDB with unusual settings', () => {
  let server: PrivateServer;
  let database: TestDatabase;
  let admin: DataSource;

  beforeAll(async () => {
    server = await startMariadb();
  });

  afterAll(async () => {
    await server.stop();
  });

  beforeEach(async () => {
    database = await testDatabase('mariadb', server.url);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await admin.query("SET GLOBAL time_zone = 'SYSTEM', autocommit = 1, sql_mode = DEFAULT");
    await admin.destroy();
  });

  async function heartbeatText(id: number): Promise<string> {
    const [row] = await admin.query<{ text: string }[]>(
      `SELECT DATE_FORMAT(heartbeat_time, '%Y-%m-%dT%H:%i:%s.%fZ') AS text FROM soc_raindrop_worker WHERE id = ${id}`,
    );
    return row!.text;
  }

  it.each(['+00:00', '-07:00', '+05:30', 'SYSTEM'])("are right whatever the server's zone is (%s)", async (zone) => {
    await admin.query(`SET GLOBAL time_zone = '${zone}'`);
    const before = Date.now();
    await expectRightTimes(database.options);
    expectSince(before, Date.parse(await heartbeatText(1)));
  });

  it("are written and read in the original's zone when it has one", async () => {
    await admin.query("SET GLOBAL time_zone = '-07:00'");
    const before = Date.now();
    await expectRightTimes(database.options, '+08:00');
    expectSince(before, Date.parse(await heartbeatText(1)) - 8 * HOUR);

    await admin.query(originalTakeSql(2, '2024-05-06 07:08:09'));
    const store = openStore(database.options, { foreignTimeZone: '+08:00' });
    expect((await store.readRow(2)).row!.heartbeatMs).toBe(Date.UTC(2024, 4, 5, 23, 8, 9));
    await store.close();
  });

  it('refuses a zone that is not an offset', () => {
    expect(() => openStore(database.options, { foreignTimeZone: "Europe/Berlin'" })).toThrow(/foreignTimeZone/);
  });

  it('commits where autocommit is switched off', async () => {
    await admin.query('SET GLOBAL autocommit = 0');
    await expectRightTimes(database.options);
    const store = openStore(database.options);
    expect((await store.readRow(1)).row!.token).toBe('a1');
    await store.close();
  });

  it('keeps texts whole where backslashes and quotes mean something else', async () => {
    await admin.query("SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT'");
    const store = openStore(database.options);
    await store.prepare({ min: 1, max: 1 });
    const code = `a'b"c\\'d\\\\e\`f; DROP TABLE soc_raindrop_worker; --`;
    const { row } = await store.readRow(1);
    const written = await store.write({
      id: 1,
      expected: { version: row!.version, token: '' },
      token: 'a1',
      holder: 'h'.repeat(500),
      code,
      layout: '',
      lane: 0,
      odometers: row!.odometers,
      timeUnit: 1,
      leaseMs: 1,
    });
    expect(written).toBe(true);
    expect((await store.readRow(1)).row).toMatchObject({ code, holder: 'h'.repeat(160) });
    await store.close();
  });
});

describe('times on PostgreSQL', () => {
  it.each(['America/New_York', 'Asia/Kolkata', 'UTC'])(
    "are right whatever the session's zone is (%s)",
    async (zone) => {
      const database = await testDatabase('postgres');
      const admin = await new DataSource(database.options).initialize();
      await admin.query(`ALTER DATABASE ${String(database.options.database)} SET timezone = '${zone}'`);
      await expectRightTimes(database.options);
      await admin.destroy();
      await database.drop();
    },
  );
});

describe('times on SQLite', () => {
  it('are right', async () => {
    const database = await testDatabase('sqlite');
    await expectRightTimes(database.options);
    await database.drop();
  });
});

describe.each(databaseKinds)('times on %s', (kind) => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("are those of the database, however wrong this host's clock is", async () => {
    const database = await testDatabase(kind);
    const store = openStore(database.options);
    await store.prepare({ min: 1, max: 1 });
    const now = Date.now();
    for (const clock of [wallClock, Date]) jest.spyOn(clock, 'now').mockImplementation(() => now - 5 * HOUR);
    expect(await takeRow(store, 1)).toBe(true);
    const { nowMs, row } = await store.readRow(1);
    jest.restoreAllMocks();
    for (const ms of [nowMs, row!.leaseUntilMs, row!.heartbeatMs]) expect(Math.abs(ms - now)).toBeLessThan(HOUR);
    await store.close();
    await database.drop();
  });
});
