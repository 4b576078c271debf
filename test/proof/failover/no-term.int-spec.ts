import { randomBytes } from 'node:crypto';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { PostgresPair } from '../../support/servers/postgres-pair.js';
import type { TestDatabase } from '../../support/servers/test-databases.js';
import { onFreshDatabase } from '../../support/stores/fresh-database.js';

const UNKNOWN = expect.stringMatching(
  /^this server cannot be distinguished from one promoted in its place: /,
) as string;

/** As servers are that speak PostgreSQL's language over a storage of their own. */
describe('A PostgreSQL that does not tell which server it is', () => {
  let database: TestDatabase;
  let admin: DataSource;
  let user: string;
  let account: DataSourceOptions;
  const opened = onFreshDatabase('postgres', (given, by) => ([database, admin] = [given, by]));

  beforeEach(async () => {
    user = `plain_${randomBytes(6).toString('hex')}`;
    const { database: name } = database.options as { database: string };
    for (const sql of [
      `CREATE ROLE ${user} LOGIN PASSWORD 'x'`,
      `GRANT ALL ON SCHEMA public TO ${user}`,
      `GRANT CREATE ON DATABASE ${name} TO ${user}`,
      'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC',
    ]) {
      await admin.query(sql);
    }
    account = { ...database.options, username: user, password: 'x' } as DataSourceOptions;
    // After the connections of the account, and before that of the administrator.
    opened.push({
      close: async () => {
        await Promise.all(opened.splice(0).map((each) => each.close()));
        await admin.query(`DROP OWNED BY ${user} CASCADE`);
        await admin.query(`DROP ROLE ${user}`);
      },
    });
  });

  it('keeps worker ids all the same, and warns of failovers', async () => {
    const store = openStore(account, { reachMs: 5_000 });
    opened.push(store);
    await store.prepare({ min: 1, max: 3 });
    expect((await store.readTable()).rows).toHaveLength(3);
    expect(await takeRow(store, 2)).toBe(true);
    expect(await store.durabilityWarnings()).toContainEqual(UNKNOWN);
    // From when it tells, it is known.
    await admin.query('GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC');
    const later = openStore(account, { reachMs: 5_000 });
    opened.push(later);
    await later.prepare({ min: 1, max: 3 });
    await later.readTable();
    expect(await later.durabilityWarnings()).not.toContainEqual(UNKNOWN);
  });

  it('is refused in words beside an account that is told: each would take the other for a failover', async () => {
    const options = { reachMs: 5_000 };
    const [told, untold] = [openStore(database.options, options), openStore(account, options)];
    const [tellingCodes, codes] = [openSegmentStore(database.options), openSegmentStore(account)];
    opened.push(told, untold, tellingCodes, codes);
    await told.prepare({ min: 1, max: 3 });
    await told.readTable();
    await tellingCodes.prepare();
    await tellingCodes.source('order').reserve({ count: 1, above: 0n });
    await admin.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${user}`);
    const hidden = expect.objectContaining({
      errorCode: 'SERVER_HIDDEN',
      message: expect.stringMatching(/pg_control_system/) as string,
    }) as unknown;
    await untold.prepare({ min: 1, max: 3 });
    await expect(untold.readTable()).rejects.toEqual(hidden);
    await expect(takeRow(untold, 1)).rejects.toEqual(hidden);
    await expect(codes.source('order').reserve({ count: 1, above: 0n })).rejects.toMatchObject({ cause: hidden });
    // Nothing was noted: no start waits, and no number is skipped.
    expect((await told.readTable()).barredUntilMs).toBeUndefined();
    expect(await tellingCodes.source('order').reserve({ count: 1, above: 0n })).toMatchObject({ first: 2n });
    await admin.query(`GRANT EXECUTE ON FUNCTION pg_control_system() TO ${user}`);
    expect(await takeRow(untold, 1)).toBe(true);
    expect(await codes.source('order').reserve({ count: 1, above: 0n })).toMatchObject({ first: 3n });
    expect((await told.readTable()).barredUntilMs).toBeUndefined();
  });

  it('gives numbers out of segments all the same, and warns of failovers', async () => {
    const store = openSegmentStore(account);
    opened.push(store);
    await store.prepare();
    const source = store.source('order');
    const [first, second] = [await source.reserve({ above: 0n }), await source.reserve({ above: 0n })];
    expect(second.last).toBeGreaterThan(first.last);
    expect(await store.durabilityWarnings()).toContainEqual(UNKNOWN);
  });
});

it('names the standbys of a server that does not tell which one it is', async () => {
  const pair = await PostgresPair.start();
  const { primary } = pair;
  const account = {
    type: 'postgres',
    host: '127.0.0.1',
    port: primary.port,
    username: 'plain',
    password: 'x',
    database: 'postgres',
  };
  const store = openStore(account as DataSourceOptions, { reachMs: 5_000 });
  try {
    for (const sql of [
      `CREATE ROLE plain LOGIN PASSWORD 'x'`,
      'GRANT CREATE, USAGE ON SCHEMA public TO plain',
      'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC',
    ]) {
      await pair.query(primary, sql);
    }
    await pair.addStandby();
    await store.prepare({ min: 1, max: 3 });
    await store.readTable();
    const named = expect.stringMatching(/promoted in its place, and it has 1 standby: a failover that loses/) as string;
    expect(await store.durabilityWarnings()).toContainEqual(named);
  } finally {
    await store.close();
    await pair.stop();
  }
}, 120_000);
