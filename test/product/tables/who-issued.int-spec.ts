import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { ConfigurationError } from '@raindrop/core';
import { type IdService, openIdService, NoWorkerHistoryError, readIssuer, workerHistoryTableSql } from '@raindrop/node';
import { readIssuers } from '@raindrop/node/internal';
import { onFreshDatabase } from '../../support/stores/fresh-database.js';
import { databaseKinds, kindsOfTier, type TestDatabase } from '../../support/servers/test-databases.js';
import { Child } from '../../support/processes/child.js';
import { until } from '../../support/until.js';
import { databaseUrl } from '../service/service-process.js';
import { jsonHere, raindropHere } from '../cli/cli-in-process.js';

/** One worker id. */
const OPTIONS = {
  startTimeStamp: '2026-01-01',
  timeStampLength: 33,
  workIdLength: 5,
  endBitsLength: 1,
  serviceMinWorkId: 1,
  serviceMaxWorkId: 1,
  waitForWorkerMs: 60_000,
  heartbeatIntervalMs: 100,
  opTimeoutMs: 10_000,
  leaseMs: 15_000,
  graceMs: 0,
  horizonMs: 15_000,
} as const;
/** A lease that ends soon, and a grant that the next process soon outlives. */
const SHORT_LEASE = { opTimeoutMs: 2_500, leaseMs: 3_000, horizonMs: 3_000, maxClockSkewMs: 500 };
const SILENT = { log: () => undefined, warn: () => undefined, error: () => undefined };
const TABLE = 'soc_raindrop_worker_history';
const HOOK = join(__dirname, '../../typescript-hook.cjs');
const SCRIPT = join(__dirname, '../../support/stores/recorded-process.ts');

interface Recorded {
  readonly pid: number;
  readonly ids: readonly string[];
}

describe.each(databaseKinds)('the worker history on %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const opened = onFreshDatabase(kind, (given, connection) => {
    [database, admin] = [given, connection];
  });

  const open = async (options: object = {}): Promise<IdService> => {
    const given = { ...OPTIONS, workerHistory: true, logger: SILENT, dbConfig: database.options, ...options };
    const ids = await openIdService(given);
    opened.push(ids);
    return ids;
  };
  const who = (id: bigint | string): ReturnType<typeof readIssuer> =>
    readIssuer(id, { ...OPTIONS, dbConfig: database.options });
  const recorded = (condition = '1 = 1'): Promise<unknown[]> =>
    admin.query<unknown[]>(`SELECT tenure FROM ${TABLE} WHERE ${condition}`).catch(() => []);

  /** A process that was started, and what it printed. */
  async function start(): Promise<Recorded & { readonly child: Child }> {
    const before = await recorded();
    const child = new Child(
      [
        process.execPath,
        '--require',
        HOOK,
        SCRIPT,
        JSON.stringify({ ...OPTIONS, ...SHORT_LEASE, workerHistory: true }),
      ],
      { environment: { RAINDROP_TEST_DATABASE: JSON.stringify(database.options) } },
    );
    const said = await child.says(/^\{.*\}$/m);
    await until('the lease to be recorded', async () => (await recorded()).length > before.length);
    return { ...(JSON.parse(said[0]) as Recorded), child };
  }

  // Three processes, the second of which waits for the lease of the first.
  const isOfTier = kindsOfTier.includes(kind);

  if (isOfTier) {
    it('names the right process for each of 1,000 IDs: one was killed, one has ended, one goes on', async () => {
      const killed = await start();
      await killed.child.end('SIGKILL');
      const ended = await start();
      await ended.child.end('SIGTERM');
      const living = await start();
      const endings = { [killed.pid]: 'lapsed', [ended.pid]: 'released', [living.pid]: 'held' };
      const found = new Map<string, number>();
      for (const { ids, pid } of [killed, ended, living]) {
        for (const { finding, issuer } of await readIssuers(ids, { ...OPTIONS, dbConfig: database.options })) {
          const isRight = finding === 'issued' && issuer!.pid === pid && issuer!.ending === endings[pid];
          found.set(`${isRight}`, (found.get(`${isRight}`) ?? 0) + 1);
        }
      }
      expect(Object.fromEntries(found)).toEqual({ true: 3_000 });
      await living.child.end('SIGKILL');
    });
  }

  /** An ID of worker 1 at a time. */
  const idAt = ({ layout }: IdService, ms: number): bigint =>
    layout.idFloor(ms) | layout.pack({ tick: 0, workerId: 1, clockBack: 0, sequence: 0 });

  it('names no process for an ID that is older than the table', async () => {
    const ids = await open();
    await until('the lease to be recorded', async () => (await recorded()).length === 1);
    expect((await who(idAt(ids, Date.now() - 86_400_000))).finding).toBe('before-history');
  });

  it('names no process, and does not say that there was none, where a failover may have lost it', async () => {
    const ids = await open();
    await until('the lease to be recorded', async () => (await recorded()).length === 1);
    const [row] = await admin.query<Record<string, string | number>[]>(
      'SELECT * FROM soc_raindrop_worker WHERE id = 1',
    );
    await ids.close();
    const next = await open({ workerHistory: false });
    const lost = next.nextId();
    await next.close();
    // The server that takes over has the row as the first process held it.
    const columns = ['token', 'version', 'own_version', 'holder', 'odo0_ms', 'odo0_seq', 'lease_until'];
    const values = columns.map((column) => `${column} = '${String(row![column])}'`);
    await admin.query(`UPDATE soc_raindrop_worker SET ${values.join(', ')} WHERE id = 1`);
    await admin.query(`UPDATE soc_raindrop_worker_state SET lost_at_ms = ${Date.now()}, reach_ms = 200000`);
    expect((await who(lost)).finding).toBe('not-recorded');
    // Nothing takes the place of SQLite.
    if (kind !== 'sqlite') expect((await who(idAt(ids, Date.now() + 10_000))).finding).toBe('not-recorded');
  });

  it('records the copy of a process by its own pid, and gives it nothing of the original', async () => {
    const { pid } = process;
    const ids = await open({ serviceMaxWorkId: 2 });
    ids.nextId();
    await until('the lease to be recorded', async () => (await recorded()).length === 1);
    const lost = ids.workerId;
    Object.defineProperty(process, 'pid', { value: 99_999, configurable: true, writable: true });
    try {
      // The twin has renewed first.
      const taken = `version = version + 1, own_version = own_version + 1, token = 'twin', lease_until = ${Date.now() + 60_000}`;
      await admin.query(`UPDATE soc_raindrop_worker SET ${taken} WHERE id = ${lost}`);
      await until('another lease', async () => (await recorded()).length === 2);
      const { finding, issuer } = await who(ids.nextId());
      expect([finding, issuer?.pid]).toEqual(['issued', 99_999]);
    } finally {
      Object.defineProperty(process, 'pid', { value: pid, configurable: true, writable: true });
    }
  });

  it('is asked by raindrop who, in words and as JSON', async () => {
    const url = databaseUrl(database.options);
    const ids = await open();
    const id = String(ids.nextId());
    const none = await raindropHere(['who', id, '--url', url]);
    await until('the lease to be recorded', async () => (await recorded()).length === 1);
    expect([0, 1]).toContain(none.code);
    const { code, stdout } = await raindropHere(['who', id, '--url', url]);
    expect(code).toBe(0);
    expect(stdout).toContain(`issued by service default, host `);
    expect(stdout).toContain(`, pid ${process.pid}\n`);
    expect(stdout).toContain('and still holds it');
    await ids.close();
    const { result } = await jsonHere<{ finding: string; issuer: { pid: number; ending: string } }>([
      ...['who', id, '--url', url],
    ]);
    expect(result).toMatchObject({ id, finding: 'issued', issuer: { pid: process.pid, ending: 'released' } });
    const later = String(BigInt(id) + (1n << 60n));
    expect((await raindropHere(['who', later, '--url', url])).stdout).toContain('no process issued it');
  });

  it('says that there is no history where no service keeps one', async () => {
    const ids = await open({ workerHistory: false });
    const id = ids.nextId();
    await expect(who(id)).rejects.toThrow(NoWorkerHistoryError);
    const { code, stderr } = await raindropHere(['who', String(id), '--url', databaseUrl(database.options)]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`no table ${TABLE}`)]);
    const [{ holder }] = (await admin.query<{ holder: string }[]>(
      'SELECT holder FROM soc_raindrop_worker WHERE id = 1',
    )) as [{ holder: string }];
    expect(holder).not.toContain('tenure');
  });

  it('deletes a lease when the one after it began before the days that are kept', async () => {
    const day = 86_400_000;
    await admin.query(workerHistoryTableSql(admin.options.type as never)[0]!);
    const first = await open();
    await first.close();
    const second = await open();
    await second.close();
    await admin.query(`UPDATE ${TABLE} SET begun_ms = begun_ms - ${2 * day}`);
    const third = await open({ workerHistory: { keepDays: 1 } });
    await until('the first lease to be deleted', async () => (await recorded()).length === 2);
    await third.close();
  });

  it('hides the host where hashCode hides it', async () => {
    const ids = await open({ hashCode: true });
    const id = ids.nextId();
    await until('the lease to be recorded', async () => (await recorded()).length === 1);
    expect(await who(id)).toMatchObject({ finding: 'issued', issuer: { host: '', pod: '', pid: process.pid } });
  });

  describe('does not hold up the lease: the first ID comes, and renewals go on, while its table', () => {
    /** Opens a service, and lets it renew and issue. */
    async function works(options: object = {}): Promise<readonly string[]> {
      const warnings: string[] = [];
      const ids = await open({ ...options, logger: { ...SILENT, warn: (text: string) => void warnings.push(text) } });
      ids.nextId();
      let renewals = 0;
      ids.events.on('lease-renewed', () => renewals++);
      await until('three renewals', () => renewals >= 3);
      ids.nextId();
      await until('a warning', () => warnings.length > 0);
      await until('another renewal', () => renewals >= 5);
      ids.nextId();
      await ids.close();
      return warnings;
    }

    it('is missing and may not be created', async () => {
      await (await open({ workerHistory: false })).close();
      const warnings = await works({ autoCreateTable: false });
      expect(warnings).toEqual([expect.stringContaining(`${TABLE} is missing from the database`)]);
    });

    it('is another one', async () => {
      await admin.query(`CREATE TABLE ${TABLE} (id int)`);
      const warnings = await works();
      expect(warnings).toEqual([expect.stringContaining(`${TABLE} exists but is not a table of the worker history`)]);
    });

    it('refuses what is written', async () => {
      for (const sql of workerHistoryTableSql(admin.options.type as never)) await admin.query(sql);
      await admin.query(
        {
          sqlite: `CREATE TRIGGER refuse BEFORE INSERT ON ${TABLE} BEGIN SELECT RAISE(ABORT, 'refused'); END`,
          mariadb: `CREATE TRIGGER refuse BEFORE INSERT ON ${TABLE} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`,
          mysql: `CREATE TRIGGER refuse BEFORE INSERT ON ${TABLE} FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'`,
          postgres: `ALTER TABLE ${TABLE} ADD CONSTRAINT refused CHECK (pid < 0)`,
        }[kind as 'sqlite'],
      );
      expect(await works()).toEqual([expect.stringContaining('refused')]);
    });

    it('is locked by a transaction of others, so that the insert hangs', async () => {
      // A lock in SQLite is one of the whole file, the worker rows included.
      if (kind === 'sqlite') return;
      for (const sql of workerHistoryTableSql(admin.options.type as never)) await admin.query(sql);
      const runner = admin.createQueryRunner();
      await runner.connect();
      const isPostgres = kind === 'postgres';
      if (isPostgres) await runner.startTransaction();
      await runner.query(isPostgres ? `LOCK TABLE ${TABLE} IN ACCESS EXCLUSIVE MODE` : `LOCK TABLES ${TABLE} WRITE`);
      try {
        expect(await works({ opTimeoutMs: 1_500 })).toEqual([expect.stringMatching(/no answer|dropped|timeout/)]);
      } finally {
        if (isPostgres) await runner.rollbackTransaction();
        else await runner.query('UNLOCK TABLES');
        await runner.release();
      }
    });
  });
});

describe('the option workerHistory', () => {
  it.each([
    [{ workerHistory: 1 }, 'must be true, false or { keepDays }'],
    [{ workerHistory: { keepDays: 0 } }, 'from 1 to 3650'],
    [{ workerHistory: true, workerIdAssigner: 'static', workerId: 1 }, `is for workerIdAssigner: 'database' only`],
    [{ workerHistory: true, idMode: 'numberSection' }, `is for workerIdAssigner: 'database' only`],
  ])('refuses %j', async (options, words) => {
    const given = { layout: 'number', dbConfig: 'sqlite:never-opened.sqlite', ...options } as never;
    const failing = openIdService(given);
    await expect(failing).rejects.toThrow(ConfigurationError);
    await expect(failing).rejects.toThrow(words);
  });
});
