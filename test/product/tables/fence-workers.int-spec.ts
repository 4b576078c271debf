import { DataSource } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { OPTIONS, useDatabase } from '../../support/module/module-fixture.js';
import { databaseKinds, kindsOfTier } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { type SnowflakeModuleOptions, type IdService, openIdService, fenceWorkers } from '@raindrop/node';

/** A lease so short that a test can wait for its end. */
const LEASE: SnowflakeModuleOptions = {
  ...OPTIONS,
  timeUnit: 'millisecond',
  timeStampLength: 41,
  workIdLength: 3,
  serviceMaxWorkId: 1,
  minLifetimeDays: 1,
  heartbeatIntervalMs: 200,
  opTimeoutMs: 2_000,
  leaseMs: 2_500,
  horizonMs: 2_500,
  maxClockSkewMs: 1_000,
  graceMs: 500,
  waitForWorkerMs: 60_000,
};

/** How long a fence bars at least, and at most: the horizon and the skew, and the whole reach. */
const [LEAST_MS, MOST_MS] = [3_500, 11_900];

/** The same layout where nothing waits for the end of a lease. */
const PATIENT: SnowflakeModuleOptions = { ...LEASE, opTimeoutMs: 20_000, leaseMs: 30_000, horizonMs: 30_000 };

describe.each(databaseKinds)('a worker table on %s that was restored from a backup', (kind) => {
  const database = useDatabase(kind, 'test');

  // It lasts as long as a fence bars: on SQLite, where no failover is reckoned with, a third of the time.
  const isOfTier = kindsOfTier.includes(kind);

  if (isOfTier) {
    it('under a running holder repeats no ID once it is fenced', async () => {
      const options = { ...LEASE, dbConfig: database.options };
      const table = await new DataSource(database.options).initialize();
      const start = async (): Promise<{ ids: IdService; close: () => Promise<void> }> => {
        const ids = await openIdService(options);
        return { ids, close: () => ids.close() };
      };
      const issued: bigint[] = [];
      const first = await start();
      await first.close();
      await table.query('CREATE TABLE backup AS SELECT * FROM soc_raindrop_worker');
      await table.query(`INSERT INTO soc_raindrop_worker (id, del_flag) VALUES (9, 1)`);

      const holder = await start();
      let isOver = false;
      const issueFrom = async (ids: IdService): Promise<void> => {
        for (; !isOver; await sleep(1)) {
          try {
            issued.push(ids.nextId());
          } catch {
            // It waits for its lease.
          }
        }
      };
      const holding = issueFrom(holder.ids);
      await until('the holder to issue', () => issued.length > 100);
      // It is heard from here on: the holder may find its row deleted, before the fence is up.
      const happened = new Set<string>();
      for (const event of ['lease-lost', 'lease-regained'] as const) {
        holder.ids.events.on(event, () => happened.add(event));
      }
      await table.query('DELETE FROM soc_raindrop_worker WHERE id = 1');
      await table.query('INSERT INTO soc_raindrop_worker SELECT * FROM backup');
      const before = Date.now();
      const fence = await fenceWorkers(options);
      expect(fence).toMatchObject({ rows: 2, foreign: 0 });
      expect(fence.barredMs).toBeGreaterThanOrEqual(LEAST_MS);
      expect(fence.barredMs).toBeLessThanOrEqual(MOST_MS);
      const deleted = await table.query<{ ms: string | number }[]>(
        'SELECT odo0_ms AS ms FROM soc_raindrop_worker WHERE id = 9',
      );
      expect(Number(deleted[0]!.ms)).toBeGreaterThan(before);
      const nextStarts = start().finally(() => happened.add('next started'));
      await until('the holder to lose its row', () => happened.has('lease-lost'));
      const count = issued.length;
      // A holder that has its row again may lose it again, on a machine that is busy.
      const again = (): boolean => happened.has('lease-regained') && issued.length > count + 100;
      await until('one of them to have it', () => again() || happened.has('next started'));
      isOver = true;
      await holding;
      await holder.close();
      const next = await nextStarts;
      for (let each = 0; each < 1_000; each++) issued.push(next.ids.nextId());
      await next.close();
      await table.destroy();
      expect(issued.length).toBeGreaterThan(1_000);
      expect(new Set(issued).size).toBe(issued.length);
    });
  }

  it('has rows of another program, which the fence does not count as freed', async () => {
    const options = { ...PATIENT, serviceMaxWorkId: 3, dbConfig: database.options };
    await (await openIdService(options)).close();
    const table = await new DataSource(database.options).initialize();
    await table.query("UPDATE soc_raindrop_worker SET code = 'go', version = version + 1 WHERE id = 2");
    expect(await fenceWorkers(options)).toMatchObject({ rows: 2, foreign: 1 });
    await table.query('UPDATE soc_raindrop_worker SET lane = 7 WHERE id = 3');
    const fence = await fenceWorkers(options);
    expect(fence).toMatchObject({ rows: 3, foreign: null });
    expect(fence.barredMs).toBeGreaterThanOrEqual(31_000);
    await table.destroy();
  });

  it('remembers the layout of the options, which the backup may not know: named, or the default one', async () => {
    const { logger } = PATIENT;
    const options = { logger, serviceMaxWorkId: 3, dbConfig: database.options };
    await (await openIdService(options)).close();
    const table = await new DataSource(database.options).initialize();
    const layouts = (): Promise<unknown[]> => table.query('SELECT fingerprint FROM soc_raindrop_worker_layout');
    await table.query('DELETE FROM soc_raindrop_worker_layout');
    await table.query("UPDATE soc_raindrop_worker SET layout = '', code = ''");
    await fenceWorkers(options);
    expect(await layouts()).toHaveLength(1);
    await fenceWorkers({ ...PATIENT, dbConfig: database.options });
    expect(await layouts()).toHaveLength(2);
    await fenceWorkers(options);
    expect(await layouts()).toHaveLength(2);
    const { nowMs, hostNowMs } = await fenceWorkers(options);
    expect(Math.abs(nowMs! - hostNowMs)).toBeLessThan(30_000);
    await table.query('DROP TABLE soc_raindrop_worker_layout');
    const state = await table.query<unknown[]>('SELECT * FROM soc_raindrop_worker_state');
    await expect(fenceWorkers(options)).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED' });
    expect(await table.query('SELECT * FROM soc_raindrop_worker_state')).toEqual(state);
    await table.destroy();
  });

  it('states which layout has served alone, until the next fence', async () => {
    const options = { ...PATIENT, dbConfig: database.options };
    const ids = await openIdService(options);
    const { fingerprint } = ids.layout;
    await ids.close();
    const table = await new DataSource(database.options).initialize();
    const stated = async (): Promise<unknown> =>
      (await table.query<{ served_alone: unknown }[]>('SELECT * FROM soc_raindrop_worker_state'))[0]!.served_alone;
    await fenceWorkers(options, undefined, { onlyThisLayout: true });
    expect(await stated()).toBe(fingerprint);
    await fenceWorkers(options);
    expect(await stated()).toBe('');
    await table.destroy();
  });

  it.each([
    [{ issuedUntil: new Date(Number.NaN) }, 'issuedUntil'],
    [{ issuedUntil: '2026-03-01' as unknown as Date }, 'issuedUntil'],
  ])('refuses statements that are none: %j', async (statements, option) => {
    const failing = fenceWorkers({ ...PATIENT, dbConfig: database.options }, undefined, statements);
    await expect(failing).rejects.toMatchObject({ errorCode: 'CONFIGURATION', problems: [{ option }] });
  });

  it('is out of reach of a fence when it is not there: the error says so', async () => {
    const failing = fenceWorkers({ ...PATIENT, dbConfig: database.options, tableName: 'no_such_table' });
    await expect(failing).rejects.toMatchObject({ errorCode: 'DATABASE_CALL_FAILED' });
  });
});
