import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DataSource } from 'typeorm';
import { grantReachMs, resolveLeaseOptions } from '@raindrop/core/internal';
import { openStore, takeRow } from '../../../../test/support/stores/open-store.js';
import { SILENT } from '../../../../test/support/module/start-app.js';
import { overPortsOfTier, sqlDatabase } from '../../../../test/support/stores/sql-database.js';
import { startMariadb } from '../../../../test/support/servers/private-servers.js';
import { kindsInTurn, testDatabase, type TestDatabase } from '../../../../test/support/servers/test-databases.js';
import type { IdService } from './id-service.js';
import { openIdService } from './open-id-service.js';
import type { SnowflakeModuleOptions } from '../options/service-options.js';
import type { SqlWorkerStore, SqlWorkerStoreOptions } from '../worker-table/sql-worker-store.js';
import { workerRowsSql, workerTableSql } from '../worker-table/worker-table.js';

const TABLES = ['soc_raindrop_worker', 'soc_raindrop_worker_layout', 'soc_raindrop_worker_state'] as const;
const [WORKERS, LAYOUTS, STATE] = TABLES;
const RANGE = { min: 1, max: 3 };
const LAYOUT = '1000@1767225600:t33.w10.b1.s18.e1=0';
const REACH_MS = grantReachMs(resolveLeaseOptions({}));

/** A lease far longer than the test may take: no process ends because it has run out. */
const LEASE = { heartbeatIntervalMs: 100, leaseMs: 3_600_000, opTimeoutMs: 5_000, serviceMaxWorkId: 8 };

/** The Go original's columns, as it makes them itself: with the type that the database has for a time. */
const original = (time: string): string =>
  `CREATE TABLE ${WORKERS} (id bigint PRIMARY KEY, code varchar(128) NOT NULL DEFAULT '', time_unit smallint NOT NULL ` +
  `DEFAULT 2, heartbeat_time ${time}, create_time ${time}, update_time ${time}, version bigint NOT NULL DEFAULT 1, ` +
  `del_flag smallint NOT NULL DEFAULT 2)`;
const TIME_TYPES: Readonly<Record<string, string>> = {
  mariadb: 'datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)',
  postgres: 'timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP',
  sqlite: 'text NOT NULL DEFAULT CURRENT_TIMESTAMP',
};

overPortsOfTier(() => {
  describe.each(kindsInTurn(__filename))('A worker table on %s that vanished', (kind) => {
    let database: TestDatabase;
    let admin: DataSource;
    const stores: SqlWorkerStore[] = [];
    const services: IdService[] = [];

    beforeEach(async () => {
      database = await testDatabase(kind);
      admin = await new DataSource(database.options).initialize();
    });

    afterEach(async () => {
      await Promise.all([...stores.splice(0), ...services.splice(0)].map((each) => each.close()));
      if (admin.isInitialized) await admin.destroy();
      await database.drop();
    });

    const open = (options: Partial<SqlWorkerStoreOptions> = {}): SqlWorkerStore => {
      const store = openStore(database.options, { reachMs: REACH_MS, ...options });
      stores.push(store);
      return store;
    };

    /** As a start does it, up to the note of the server. */
    const prepared = async (options: Partial<SqlWorkerStoreOptions> = {}): Promise<SqlWorkerStore> => {
      const store = open(options);
      await store.prepare(RANGE);
      await store.readTable();
      return store;
    };

    const serve = async (options: SnowflakeModuleOptions = {}): Promise<IdService> => {
      const dbConfig = sqlDatabase(database.options);
      const service = await openIdService({ dbConfig, logger: SILENT, ...LEASE, ...options });
      services.push(service);
      return service;
    };

    const run = async (statements: readonly string[]): Promise<void> => {
      for (const statement of statements) await admin.query(statement);
    };

    const drop = (...tables: readonly string[]): Promise<void> => run(tables.map((table) => `DROP TABLE ${table}`));

    /** One that was in use. */
    const used = async (): Promise<SqlWorkerStore> => {
      const store = await prepared();
      expect(await takeRow(store, 1)).toBe(true);
      await store.rememberLayout(LAYOUT);
      return store;
    };

    const barOf = async (store: SqlWorkerStore): Promise<number> => {
      const { barredUntilMs, nowMs } = await store.readTable();
      return barredUntilMs === undefined ? 0 : barredUntilMs - nowMs;
    };

    const type = kind === 'sqlite' ? 'better-sqlite3' : kind;
    const rowsSql = (range = RANGE): string[] => workerRowsSql(type, WORKERS, range);

    const lost = (service: IdService): Promise<unknown> =>
      new Promise((resolve) => service.events.once('lease-lost', resolve));

    /** Resolves when a service is refused a row since what was granted may be lost; rejects when it gets one. */
    const barred = (service: IdService): Promise<void> =>
      new Promise((resolve, reject) => {
        service.events.on('lease-regained', () => reject(new Error('it took a row')));
        service.events.on('lease-trouble', ({ error }) => {
          if ('barredForMs' in error && Number(error.barredForMs) > 0) resolve();
        });
      });

    it.each([
      { what: 'alone', tables: [WORKERS] },
      { what: 'with all that stands beside it', tables: TABLES },
    ])('$what ends its holder at the next renewal', async ({ tables }) => {
      const service = await serve();
      const ending = lost(service);
      await drop(...tables);
      await expect(ending).resolves.toMatchObject({ reason: 'its row was deleted' });
      expect(() => service.nextId()).toThrow(
        expect.objectContaining({ errorCode: 'LEASE_LOST', retryable: true }) as Error,
      );
    });

    it('and was made anew between two renewals ends its holder, too', async () => {
      const service = await serve();
      const ending = lost(service);
      await drop(...TABLES);
      await prepared();
      await expect(ending).resolves.toMatchObject({ reason: expect.any(String) as string });
    });

    if (kind !== 'sqlite') {
      it('with its whole database ends its holder', async () => {
        const service = await serve();
        const ending = lost(service);
        await admin.destroy();
        await database.drop();
        await expect(ending).resolves.toMatchObject({ reason: expect.any(String) as string });
      });
    } else {
      it.each(['DELETE', 'WAL'])('with its file, whose journal is %s, ends its holder', async (journal) => {
        await admin.query(`PRAGMA journal_mode = ${journal}`);
        const service = await serve();
        const ending = lost(service);
        await admin.destroy();
        const file = String(database.options.database);
        for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${file}${suffix}`, { force: true });
        // A service that starts now finds no table, and makes one.
        const newcomer = await serve();
        await expect(ending).resolves.toMatchObject({ reason: expect.any(String) as string });
        expect(existsSync(file)).toBe(true);
        expect(newcomer.nextId()).toBeGreaterThan(0n);
      });
    }

    it.each([
      { what: 'its state is left', tables: [WORKERS, LAYOUTS] },
      { what: 'its layouts are left', tables: [WORKERS, STATE] },
      { what: 'both are left', tables: [WORKERS] },
    ])('is waited for by the start that makes it anew where $what', async ({ tables }) => {
      const before = await used();
      await drop(...tables);
      const table = await (await prepared()).readTable();
      expect(table.barredUntilMs! - table.nowMs).toBeGreaterThan(REACH_MS - 60_000);
      // It is one loss, for all that come later, and for who was there before.
      expect((await (await prepared()).readTable()).barredUntilMs).toBe(table.barredUntilMs);
      expect((await before.readTable()).barredUntilMs).toBe(table.barredUntilMs);
      expect((await before.readRow(1)).row).toMatchObject({ token: '' });
    });

    it.each([
      { what: 'emptied', remake: (): Promise<void> => Promise.resolve() },
      {
        what: 'made anew by a process that then died',
        remake: (): Promise<void> => open().prepare({ min: 1, max: 0 }),
      },
    ])('since it was $what is waited for', async ({ what, remake }) => {
      await used();
      await admin.query(what === 'emptied' ? `DELETE FROM ${WORKERS}` : `DROP TABLE ${WORKERS}`);
      await remake();
      const table = await (await prepared()).readTable();
      expect(table.barredUntilMs! - table.nowMs).toBeGreaterThan(REACH_MS - 60_000);
    });

    it('is new where nothing is left of it, and rows that a wider range adds are no loss', async () => {
      await prepared();
      await drop(...TABLES);
      const store = await used();
      expect((await store.readTable()).barredUntilMs).toBeUndefined();
      const wider = open();
      await wider.prepare({ min: 1, max: 9 });
      expect(await wider.readTable()).not.toHaveProperty('barredUntilMs');
    });

    it('was never there for many that start at once', async () => {
      const all = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          const store = await prepared();
          await takeRow(store, 1, `t${index}`);
          await store.rememberLayout(LAYOUT);
          return store;
        }),
      );
      for (const store of all) expect((await store.readTable()).barredUntilMs).toBeUndefined();
    });

    it('was never there for many that start one after another', async () => {
      const all: SqlWorkerStore[] = [];
      for (let id = 1; id <= 8; id++) {
        const store = open();
        await store.prepare({ min: 1, max: id });
        expect(await barOf(store)).toBe(0);
        await takeRow(store, id, `t${id}`);
        await store.rememberLayout(LAYOUT);
        all.push(store);
      }
      for (const store of all) expect((await store.readTable()).barredUntilMs).toBeUndefined();
    });

    it('is waited for by each of many that start at once', async () => {
      await used();
      await drop(WORKERS);
      const all = await Promise.all(Array.from({ length: 8 }, () => prepared()));
      for (const store of all) expect(await barOf(store)).toBeGreaterThan(REACH_MS - 60_000);
    });

    it('is that of an earlier release where it has no state: its rows are there', async () => {
      const before = await used();
      await before.close();
      await drop(STATE);
      const store = await prepared();
      expect(await barOf(store)).toBe(0);
      expect((await store.readRow(1)).row).toMatchObject({ token: 'a1' });
    });

    it('is one loss however often a start is refused that may not create it', async () => {
      await used();
      await drop(WORKERS);
      const refused = open({ autoCreateTable: false });
      const stateBefore: unknown = await admin.query(`SELECT * FROM ${STATE}`);
      await expect(refused.prepare(RANGE)).rejects.toMatchObject({ errorCode: 'TABLE_MISSING' });
      expect(await admin.query(`SELECT * FROM ${STATE}`)).toEqual(stateBefore);
    });

    describe('and was made anew by hand, with rows that were never in use,', () => {
      it.each([
        { what: 'dropped', remove: `DROP TABLE ${WORKERS}` },
        { what: 'emptied', remove: kind === 'sqlite' ? `DELETE FROM ${WORKERS}` : `TRUNCATE TABLE ${WORKERS}` },
      ])('is waited for by all that start since it was $what', async ({ remove }) => {
        await used();
        await run([remove, ...workerTableSql(type, WORKERS), ...rowsSql()]);
        const store = await prepared({ autoCreateTable: false });
        expect(await barOf(store)).toBeGreaterThan(REACH_MS - 60_000);
        const { barredUntilMs } = await store.readTable();
        expect((await (await prepared()).readTable()).barredUntilMs).toBe(barredUntilMs);
      });

      it('is waited for though the original made it, without our columns', async () => {
        await used();
        await drop(WORKERS);
        await run([original(TIME_TYPES[kind]!), `INSERT INTO ${WORKERS} (id) VALUES (1), (2), (3)`]);
        expect(await barOf(await prepared({ sharedWithOriginal: true }))).toBeGreaterThan(REACH_MS - 60_000);
      });

      it('is one loss though the original made it, and rows of the original are left as they are', async () => {
        await used();
        await drop(WORKERS);
        await run([
          original(TIME_TYPES[kind]!),
          `INSERT INTO ${WORKERS} (id, code) VALUES (1, ''), (2, 'go'), (3, '')`,
        ]);
        const shared = { sharedWithOriginal: true, adoptForeign: true };
        const { barredUntilMs } = await (await prepared(shared)).readTable();
        expect(barredUntilMs).toBeDefined();
        expect((await (await prepared(shared)).readTable()).barredUntilMs).toBe(barredUntilMs);
        const rows = await admin.query<{ version: unknown }[]>(`SELECT version FROM ${WORKERS} ORDER BY id`);
        expect(rows.map(({ version }) => Number(version))).toEqual([2, 1, 2]);
      });

      it('ends its holder at the next renewal though the original made it', async () => {
        const service = await serve({ heartbeatIntervalMs: 300 });
        const ending = lost(service);
        await drop(WORKERS);
        await run([original(TIME_TYPES[kind]!), `INSERT INTO ${WORKERS} (id, code) VALUES (1, 'go')`]);
        await expect(ending).resolves.toMatchObject({ reason: expect.any(String) as string });
      });
    });

    describe('makes its holder wait like a start before it takes a row again', () => {
      it('where no process has made it anew: the holder does', async () => {
        const service = await serve();
        const waiting = barred(service);
        await drop(...TABLES);
        await expect(waiting).resolves.toBeUndefined();
        expect(await barOf(await prepared())).toBeGreaterThan(REACH_MS - 60_000);
      });

      it.each([
        { what: 'its row is one that was never in use', anew: 0 },
        { what: 'its row is not there yet, but that of another holder', anew: 1 },
      ])('where $what', async ({ anew }) => {
        const service = await serve({ heartbeatIntervalMs: 500 });
        const [held] = await admin.query<{ id: unknown }[]>(`SELECT id FROM ${WORKERS} WHERE token <> ''`);
        const id = Number(held!.id) + anew;
        const waiting = barred(service);
        await drop(...TABLES);
        const newcomer = open();
        await newcomer.prepare({ min: 1, max: 0 });
        await newcomer.readTable();
        await run(rowsSql({ min: id, max: id }));
        await expect(waiting).resolves.toBeUndefined();
      });
    });

    describe('is believed to be gone only when a statement on it says so', () => {
      it('and not when its state is missing', async () => {
        const store = await used();
        await drop(STATE);
        await expect(store.readRow(1)).rejects.toMatchObject({ retryable: true });
      });

      if (kind === 'mariadb') {
        it('and not when a trigger of its state lacks a table', async () => {
          const store = await used();
          // Another server was noted: the look at the row notes this one anew.
          await run([
            `UPDATE ${STATE} SET term = 'another'`,
            'CREATE TABLE audit (a int)',
            `CREATE TRIGGER t AFTER UPDATE ON ${STATE} FOR EACH ROW INSERT INTO audit VALUES (1)`,
            'DROP TABLE audit',
          ]);
          await expect(store.readRow(1)).rejects.toMatchObject({ driverCode: 'ER_NO_SUCH_TABLE' });
        });

        it('and not when the account may not use it: others do', async () => {
          const healthy = await used();
          const name = String(database.options.database);
          const account = `poor_${name.slice(-8)}`;
          await run([
            `CREATE USER ${account}@'%' IDENTIFIED BY 'p'`,
            ...[STATE, LAYOUTS].map((table) => `GRANT SELECT, INSERT, UPDATE ON ${name}.${table} TO ${account}@'%'`),
          ]);
          try {
            const poor = openStore({ ...database.options, username: account, password: 'p' } as never);
            stores.push(poor);
            await expect(poor.prepare(RANGE)).rejects.toMatchObject({
              retryable: false,
              errorCode: 'DATABASE_REFUSED',
            });
            expect(await barOf(healthy)).toBe(0);
          } finally {
            await admin.query(`DROP USER ${account}@'%'`);
          }
        });

        it('and not by a replica that lacks it yet', async () => {
          const server = await startMariadb();
          const there = await testDatabase('mariadb', server.url);
          const primary = await new DataSource(there.options).initialize();
          const store = openStore(there.options, { reachMs: REACH_MS });
          try {
            await store.prepare(RANGE);
            await store.readTable();
            await primary.query(`DROP TABLE ${WORKERS}`);
            await primary.query('SET GLOBAL read_only = 1');
            store.abandon();
            await expect(store.readRow(1)).rejects.toMatchObject({ errorCode: 'REPLICA' });
          } finally {
            await store.close();
            await primary.query('SET GLOBAL read_only = 0');
            await primary.destroy();
            await there.drop();
            await server.stop();
          }
        }, 60_000);
      }

      if (kind === 'postgres') {
        it('and not by a replica that lacks it yet', async () => {
          const store = await used();
          // The next session is told that its server is in recovery, and does not find the table.
          await run([
            'CREATE SCHEMA fake',
            'CREATE FUNCTION fake.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS $$ SELECT true $$',
            `ALTER DATABASE "${String(database.options.database)}" SET search_path = fake, pg_catalog, public`,
            `DROP TABLE ${WORKERS}`,
          ]);
          store.abandon();
          await expect(store.readRow(1)).rejects.toMatchObject({ errorCode: 'REPLICA' });
        });
      }
    });

    if (kind === 'sqlite') {
      it('behind a symbolic link that leads to another file by now ends its holder', async () => {
        const file = String(database.options.database);
        const link = join(dirname(file), 'current.sqlite');
        symlinkSync(file, link);
        const dbConfig = sqlDatabase({ ...database.options, database: link });
        const service = await serve({ dbConfig });
        const ending = lost(service);
        symlinkSync(join(dirname(file), 'next.sqlite'), `${link}.new`);
        renameSync(`${link}.new`, link);
        const newcomer = await serve({ dbConfig });
        await expect(ending).resolves.toMatchObject({ reason: expect.any(String) as string });
        expect(newcomer.nextId()).toBeGreaterThan(0n);
      });
    }
  });
});
