import Sqlite from 'better-sqlite3';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { OPTIONS, startApp, typeorm, useDatabase } from '../../support/module/module-fixture.js';
import { kindsInTurn } from '../../support/servers/test-databases.js';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import type { SnowflakeModuleOptions } from '@raindrop/node';
import { until } from '../../support/until.js';
import { leaseStatus } from '../../support/module/lease-status.js';

/** The lines of the failure table that only a real database, or a real host, can show. */

/** One row of an hour layout: IDs come in small blocks, each of which is a write. */
const HOURS: SnowflakeModuleOptions = {
  ...OPTIONS,
  timeUnit: 'hour',
  timeStampLength: 40,
  workIdLength: 3,
  serviceMaxWorkId: 1,
  minLifetimeDays: 1,
  heartbeatIntervalMs: 100,
  opTimeoutMs: 500,
  leaseMs: 5_000,
  graceMs: 0,
  horizonMs: 5_000,
};
/** In the last seconds of a tick its grants lie in the next one: an hour ends too often to count them. */
const DAYS: SnowflakeModuleOptions = { ...HOURS, timeUnit: 'day' };
const servers = kindsInTurn(__filename).filter((kind) => kind !== 'sqlite');

/** A row's first odometer and holder, as numbers. */
async function rowOf(source: DataSource, id = 1): Promise<{ ms: number; sequence: number; token: string }> {
  const [row] = await source.query<{ ms: string; sequence: string; token: string }[]>(
    `SELECT odo0_ms AS ms, odo0_seq AS sequence, token FROM soc_raindrop_worker WHERE id = ${id}`,
  );
  return { ms: Number(row!.ms), sequence: Number(row!.sequence), token: row!.token };
}

describe.each(servers)('an application on %s that reads from a replica', (kind) => {
  const master = useDatabase(kind, 'test');
  const replica = useDatabase(kind, 'test');

  it('has its worker on the master, and asks the replica for nothing', async () => {
    const replication = { master: master.options, slaves: [replica.options] };
    const app = await startApp([typeorm({ type: kind, replication }), RaindropModule.forRoot(DAYS)]);
    // The application itself does read from there: a replica that is hours behind could be what it sees.
    const reader = app.get(DataSource).createQueryRunner('slave');
    await expect(reader.query('SELECT id FROM soc_raindrop_worker')).rejects.toThrow(/soc_raindrop_worker/);
    await reader.release();
    const ids = await app.get(IdService).nextIdsAsync(2_000);
    const source = await new DataSource(master.options).initialize();
    const { token, sequence } = await rowOf(source);
    expect(token).not.toBe('');
    expect(sequence).toBeGreaterThanOrEqual(new Set(ids).size - 1);
    await source.destroy();
    await app.close();
  });
});

describe.each(servers)("a transaction of the application's on %s, on the only connection of its pool", (kind) => {
  const database = useDatabase(kind, 'test');

  it('that is rolled back takes no reservation with it, and holds none up', async () => {
    const options = { ...database.options, poolSize: 1 } as DataSourceOptions;
    const app = await startApp([typeorm(options), RaindropModule.forRoot(DAYS)]);
    const ids = app.get(IdService);
    const runner = app.get(DataSource).createQueryRunner();
    await runner.query('CREATE TABLE orders (id bigint)');
    await runner.startTransaction();
    const before = leaseStatus(ids).renewals;
    const issued = await ids.nextIdsAsync(5_000);
    await runner.query(`INSERT INTO orders VALUES (${issued[0]!})`);
    await runner.rollbackTransaction();
    expect(leaseStatus(ids).renewals).toBeGreaterThan(before);
    expect(await runner.query('SELECT id FROM orders')).toEqual([]);
    await runner.release();
    const admin = await new DataSource(database.options).initialize();
    const last = ids.layout.unpack(issued.at(-1)!);
    expect((await rowOf(admin)).sequence).toBeGreaterThanOrEqual(last.sequence);
    await app.close();
    const next = await startApp([RaindropModule.forRoot({ ...DAYS, dbConfig: database.options })]);
    expect(next.get(IdService).nextId()).toBeGreaterThan(issued.at(-1)!);
    await next.close();
    await admin.destroy();
  });

  it('would undo a reservation that was made inside it: the lease has a connection of its own', async () => {
    const app = await startApp([RaindropModule.forRoot({ ...DAYS, dbConfig: database.options })]);
    app.get(IdService).nextId();
    await app.close();
    const source = await new DataSource(database.options).initialize();
    const before = await rowOf(source);
    const runner = source.createQueryRunner();
    await runner.startTransaction();
    await runner.query('UPDATE soc_raindrop_worker SET odo0_seq = odo0_seq + 1000 WHERE id = 1');
    await runner.rollbackTransaction();
    await runner.release();
    expect(await rowOf(source)).toEqual(before);
    await source.destroy();
  });
});

describe.each(kindsInTurn(__filename))('an operator of %s', (kind) => {
  const database = useDatabase(kind, 'test');

  it('who lowers an odometer under its holder sees it raised at the next heartbeat', async () => {
    const app = await startApp([RaindropModule.forRoot({ ...HOURS, dbConfig: database.options })]);
    const ids = app.get(IdService);
    const issued = await ids.nextIdsAsync(100);
    const admin = await new DataSource(database.options).initialize();
    const renewed = new Promise((resolve) => ids.events.once('lease-renewed', resolve));
    await admin.query('UPDATE soc_raindrop_worker SET odo0_ms = 0, odo0_seq = -1 WHERE id = 1');
    await renewed;
    // What was under way at that moment may have been it.
    await new Promise((resolve) => ids.events.once('lease-renewed', resolve));
    expect((await rowOf(admin)).sequence).toBeGreaterThanOrEqual(ids.layout.unpack(issued.at(-1)!).sequence);
    await app.close();
    const next = await startApp([RaindropModule.forRoot({ ...HOURS, dbConfig: database.options })]);
    expect(next.get(IdService).nextId()).toBeGreaterThan(issued.at(-1)!);
    await next.close();
    await admin.destroy();
  });

  it.each([
    { how: 'deletes a row', sql: 'DELETE FROM soc_raindrop_worker WHERE id =' },
    { how: 'marks a row deleted', sql: 'UPDATE soc_raindrop_worker SET del_flag = 1 WHERE id =' },
  ])('who $how sees the holder go on with another one', async ({ sql }) => {
    const options = { ...HOURS, serviceMaxWorkId: 3, dbConfig: database.options };
    const app = await startApp([RaindropModule.forRoot(options)]);
    const ids = app.get(IdService);
    const before = ids.workerId!;
    const issued = [ids.nextId()];
    const admin = await new DataSource(database.options).initialize();
    const [lost, regained] = (['lease-lost', 'lease-regained'] as const).map(
      (event) => new Promise((resolve) => ids.events.once(event, resolve)),
    );
    const refused = lost!.then(() => ids.nextId()).catch((error: unknown) => error);
    await admin.query(`${sql} ${before}`);
    await expect(lost).resolves.toMatchObject({ reason: 'its row was deleted' });
    expect(await refused).toMatchObject({ errorCode: 'LEASE_LOST', retryable: true, workerId: before });
    await regained;
    issued.push(ids.nextId());
    expect(ids.workerId).not.toBe(before);
    expect(new Set(issued).size).toBe(2);
    await app.close();
    await admin.destroy();
  });
});

describe('a SQLite that the application is writing to', () => {
  const database = useDatabase('sqlite', 'test');

  it('for half a lease costs no failed call, and for longer than a lease a typed one until it is free', async () => {
    const lease = { opTimeoutMs: 200 };
    const millis = { timeUnit: 'millisecond', timeStampLength: 41 } as const;
    const app = await startApp([RaindropModule.forRoot({ ...HOURS, ...millis, ...lease, dbConfig: database.options })]);
    const ids = app.get(IdService);
    const issued: bigint[] = [];
    const failures = new Set<string>();
    const issue = (): void => {
      try {
        issued.push(ids.nextId());
      } catch (error) {
        failures.add((error as { errorCode: string }).errorCode);
      }
    };
    const issueUntil = (what: string, isSo: () => boolean): Promise<boolean> =>
      until(what, () => {
        issue();
        return isSo();
      });
    let troubles = 0;
    ids.events.on('lease-trouble', () => troubles++);
    const other = new Sqlite(String(database.options.database));
    other.exec('CREATE TABLE orders (id integer)');
    other.exec('BEGIN EXCLUSIVE; INSERT INTO orders VALUES (1)');
    await issueUntil('renewals to fail', () => troubles >= 2);
    other.exec('ROLLBACK');
    const { renewals } = leaseStatus(ids);
    await issueUntil('renewals to succeed', () => leaseStatus(ids).renewals > renewals);
    expect([...failures]).toEqual([]);
    other.exec('BEGIN EXCLUSIVE');
    await issueUntil('the lease to end', () => failures.size > 0);
    for (let again = 0; again < 100; again++) issue();
    other.exec('COMMIT');
    // Lease and horizon end together: either may be noticed first.
    for (const code of failures) expect(['LEASE_LOST', 'RESERVATION_EXHAUSTED']).toContain(code);
    expect(await ids.nextIdAsync(undefined, { timeoutMs: 20_000 })).toBeGreaterThan(issued.at(-1)!);
    expect(new Set(issued).size).toBe(issued.length);
    other.close();
    await app.close();
  });
});
