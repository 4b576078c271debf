import { DataSource, type DataSourceOptions } from 'typeorm';
import { randomBytes } from 'node:crypto';
import { fenceMs, stateAfterFence } from '@raindrop/core/internal';
import { databaseKinds, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import type { SqlWorkerStore } from './sql-worker-store.js';
import { fenceRequest } from '../../../../test/support/stores/fence-request.js';

const STATE = 'soc_raindrop_worker_state';
const REACH_MS = 218_000;
const AHEAD_MS = 95_000;
const DAY_MS = 86_400_000;
/** Two clocks are read one after the other. */
const GRAIN_MS = 5;

function* cases() {
  const statements = [
    { more: {}, offsets: [-1_000_000, 50_000] },
    { more: { issuedUntilMs: Date.now() + 7 * DAY_MS }, offsets: [-1_000_000, DAY_MS] },
    { more: { issuedUntilMs: 1 }, offsets: [-1_000_000, DAY_MS] },
    { more: { servedAlone: 'ours' }, offsets: [-1_000_000, 50_000] },
    { more: { servedAlone: 'another' }, offsets: [-1_000_000, 50_000] },
    { more: { issuedUntilMs: 1, servedAlone: 'ours' }, offsets: [-1_000_000, DAY_MS] },
  ];
  for (const { more, offsets } of statements)
    for (const reachMs of [0, 545_000, 40 * DAY_MS])
      for (const aheadMs of [1_000, 300_000, 50 * DAY_MS])
        for (const offsetMs of offsets)
          for (const failoverNumber of [0, 99e12]) yield { reachMs, aheadMs, offsetMs, failoverNumber, more };
}

describe.each(databaseKinds)('The state of a fence on %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const open: SqlWorkerStore[] = [];

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((store) => store.close()));
    await admin.destroy();
    await database.drop();
  });

  const storeOf = (reachMs = REACH_MS): SqlWorkerStore => {
    const store = openStore(database.options, { reachMs });
    open.push(store);
    return store;
  };

  const query = (sql: string): Promise<Record<string, unknown>[]> => admin.query(sql);

  it('is that of stateAfterFence', async () => {
    const store = storeOf();
    await store.prepare({ min: 1, max: 2 });
    await store.readTable();
    const ownReachMs = kind === 'sqlite' ? 0 : REACH_MS;
    const wrong: object[] = [];
    for (const { reachMs, aheadMs, offsetMs, failoverNumber, more } of cases()) {
      const lostAtMs = Date.now() + offsetMs;
      const [fencedUntilMs, lostUntilMs] = [Date.now() + 10 * offsetMs, Date.now() + 9 * offsetMs];
      await query(`DELETE FROM ${STATE}`);
      await query(
        `INSERT INTO ${STATE} (id, format, term, epoch, lost_at_ms, reach_ms, fenced_until_ms, served_alone, alone_lost_until_ms) ` +
          `VALUES (1, 1, '', ${failoverNumber}, ${lostAtMs}, ${reachMs}, ${fencedUntilMs}, 'ours', ${lostUntilMs})`,
      );
      const request = fenceRequest(aheadMs, more);
      const beganMs = Date.now() - GRAIN_MS;
      await store.fence(request);
      const endedMs = Date.now() + GRAIN_MS;
      const [row] = await query(`SELECT * FROM ${STATE}`);
      const found = {
        failoverNumber: Number(row!['epoch']),
        lostAtMs: Number(row!['lost_at_ms']),
        reachMs: Number(row!['reach_ms']),
        fencedUntilMs: Number(row!['fenced_until_ms']),
        lostUntilMs: row!['served_alone'] === '' ? 0 : Number(row!['alone_lost_until_ms']),
      };
      const state = { failoverNumber, lostAtMs, reachMs, fencedUntilMs, servedAlone: { layout: 'ours', lostUntilMs } };
      const forMs = fenceMs(request, reachMs, ownReachMs);
      const [least, most] = [beganMs, endedMs].map((nowMs) => {
        const { servedAlone, ...after } = stateAfterFence(state, request, { nowMs, fromMs: nowMs, forMs });
        return { ...after, lostUntilMs: servedAlone?.lostUntilMs ?? 0 };
      });
      for (const name of Object.keys(found) as (keyof typeof found)[]) {
        if (found[name] < least![name] || found[name] > most![name]) wrong.push({ state, request, name, found });
      }
    }
    expect(wrong).toEqual([]);
  });

  it('bars where none was recorded, and running processes go on', async () => {
    const running = storeOf();
    await running.prepare({ min: 1, max: 2 });
    await running.readTable();
    expect(await takeRow(running, 1)).toBe(true);
    await query(`DELETE FROM ${STATE}`);
    expect(await storeOf().fence(fenceRequest(AHEAD_MS))).toBe(2);
    const { barredUntilMs = 0, nowMs } = await running.readTable();
    const barMs = kind === 'sqlite' ? AHEAD_MS : REACH_MS;
    expect(barredUntilMs - nowMs).toBeGreaterThan(barMs - 10_000);
    expect(barredUntilMs - nowMs).toBeLessThanOrEqual(barMs + GRAIN_MS);
    expect(await takeRow(running, 1, 'b')).toBe(true);
    const later = storeOf();
    await later.prepare({ min: 1, max: 5 });
    expect(await later.readTable()).toMatchObject({ barredUntilMs, rows: { length: 5 } });
    expect(Number((await query('SELECT MIN(odo0_ms) AS ms FROM soc_raindrop_worker WHERE id = 2'))[0]!['ms'])).toBe(
      barredUntilMs,
    );
  });

  it('gets its column in a table that an earlier release has made', async () => {
    const first = storeOf();
    await first.prepare({ min: 1, max: 2 });
    await query(`ALTER TABLE ${STATE} DROP COLUMN fenced_until_ms`);
    const careful = openStore(database.options, { reachMs: REACH_MS, autoCreateTable: false });
    open.push(careful);
    await expect(careful.prepare({ min: 1, max: 2 })).rejects.toMatchObject({
      errorCode: 'TABLE_MISSING',
      message: expect.stringContaining(`${STATE}.fenced_until_ms`) as string,
    });
    await expect(storeOf().fence(fenceRequest(AHEAD_MS))).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED' });
    expect(await query(`SELECT id FROM ${STATE}`)).toEqual([]);
    await storeOf().prepare({ min: 1, max: 2 });
    expect(await storeOf().fence(fenceRequest(AHEAD_MS))).toBe(2);
  });

  if (kind !== 'sqlite') {
    it("is made many times on a table of the original's, whose version has 32 bits", async () => {
      const store = storeOf();
      await store.prepare({ min: 1, max: 2 });
      const change = kind === 'postgres' ? 'ALTER COLUMN version TYPE int' : 'MODIFY version int NOT NULL DEFAULT 1';
      await query(`ALTER TABLE soc_raindrop_worker ${change}`);
      for (let fences = 0; fences < 20; fences++) expect(await store.fence(fenceRequest(AHEAD_MS))).toBe(2);
      expect(await takeRow(store, 1)).toBe(true);
    });
  }

  it.each([
    [
      'a row of ours was written later',
      "UPDATE soc_raindrop_worker SET lease_until = 4085000000000, heartbeat_time = '2099-01-01 00:00:00' WHERE id = 1",
      true,
    ],
    [
      'another program has written a row later',
      "UPDATE soc_raindrop_worker SET version = 9, heartbeat_time = '2099-01-01 00:00:00' WHERE id = 1",
      false,
    ],
    [
      'a row that was never used has a later time',
      "UPDATE soc_raindrop_worker SET heartbeat_time = '2099-01-01 00:00:00' WHERE id = 2",
      false,
    ],
    [
      'the heartbeat of a row is that of another zone, eight hours later',
      "UPDATE soc_raindrop_worker SET heartbeat_time = '2099-01-01 00:00:00' WHERE id = 1",
      false,
    ],
    [
      'a fence was made later',
      "UPDATE soc_raindrop_worker SET token = '', lease_until = 4085000000000 WHERE id = 2",
      true,
    ],
    [
      'a row that is marked deleted cannot be read, and IDs of another were granted for later',
      'UPDATE soc_raindrop_worker SET odo0_seq = 5, del_flag = id, odo0_ms = CASE WHEN id = 1 THEN 4611686018427387904 ELSE 4085000000000 END',
      true,
    ],
    ['a loss was recorded later', `UPDATE ${STATE} SET lost_at_ms = ${Date.now() + DAY_MS}`, true],
    [
      'a row cannot be read, and another was written later',
      "UPDATE soc_raindrop_worker SET lane = 7, lease_until = 4085000000000, heartbeat_time = '2099-01-01 00:00:00' WHERE id = 1",
      true,
    ],
  ])('is written, or refused, where %s', async (_, change, isRefused) => {
    const store = storeOf();
    await store.prepare({ min: 1, max: 2 });
    await store.readTable();
    expect(await takeRow(store, 1)).toBe(true);
    await query(`INSERT INTO ${STATE} (id) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM ${STATE})`);
    await query(change);
    const state = await query(`SELECT * FROM ${STATE}`);
    const refusal: unknown = await store.fence(fenceRequest(AHEAD_MS)).catch((error: unknown) => error);
    if (!isRefused) return expect(refusal).toBe(2);
    expect(refusal).toMatchObject({ errorCode: 'CLOCK_BEHIND' });
    expect(await query(`SELECT * FROM ${STATE}`)).toEqual(state);
    expect(await query("SELECT id FROM soc_raindrop_worker WHERE token <> ''")).toHaveLength(1);
    expect(await store.fence(fenceRequest(AHEAD_MS, { issuedUntilMs: Date.now() }))).toBe(2);
  });

  it("is not written by a clock that is too far from the database's", async () => {
    // No clock is as near as that.
    const store = storeOf();
    await store.prepare({ min: 1, max: 2 });
    await expect(store.fence(fenceRequest(AHEAD_MS, { maxClockSkewMs: -1 }))).rejects.toMatchObject({
      errorCode: 'CLOCK_SKEW',
    });
    expect(await storeOf().readTable()).not.toHaveProperty('barredUntilMs');
  });
});

it('A fence by an account that is told the term of PostgreSQL shuts out no service that is not, and bars as long by one that is not', async () => {
  const database = await testDatabase('postgres');
  const admin = await new DataSource(database.options).initialize();
  const user = `plain_${randomBytes(6).toString('hex')}`;
  for (const sql of [
    `CREATE ROLE ${user} LOGIN PASSWORD 'x'`,
    `GRANT ALL ON SCHEMA public TO ${user}`,
    'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC',
  ]) {
    await admin.query(sql);
  }
  const account = { ...database.options, username: user, password: 'x' } as DataSourceOptions;
  const open = [account, account, database.options].map((options) => openStore(options, { reachMs: 60_000 }));
  const [service, fresh, operator] = open as [SqlWorkerStore, SqlWorkerStore, SqlWorkerStore];
  try {
    await service.prepare({ min: 1, max: 3 });
    await service.readTable();
    expect(await takeRow(service, 2)).toBe(true);
    expect(await operator.fence(fenceRequest(1_000))).toBe(3);
    await fresh.prepare({ min: 1, max: 3 });
    for (const each of [service, fresh]) expect((await each.readTable()).rows).toHaveLength(3);
    // A backup without a state, fenced by an account that cannot see whether the server was replaced.
    await admin.query(`DELETE FROM ${STATE}`);
    expect(await fresh.fence(fenceRequest(1_000))).toBe(3);
    const { barredUntilMs = 0, nowMs } = await service.readTable();
    expect(barredUntilMs - nowMs).toBeGreaterThan(50_000);
  } finally {
    await Promise.all(open.map((each) => each.close()));
    await admin.query(`DROP OWNED BY ${user} CASCADE`);
    await admin.query(`DROP ROLE ${user}`);
    await admin.destroy();
    await database.drop();
  }
});
