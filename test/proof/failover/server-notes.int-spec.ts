import { grantReachMs, resolveLeaseOptions, wallClock } from '@raindrop/core/internal';
import { DataSource } from 'typeorm';
import { openSegmentStore } from '../../support/stores/open-segment-store.js';
import { openStore, takeRow } from '../../support/stores/open-store.js';
import { writeTo } from '../contract/worker-store.contract.js';
import type { SqlSegmentStore } from '../../../libs/node/src/segment-table/sql-segment-store.js';
import type { SqlWorkerStore, SqlWorkerStoreOptions } from '../../../libs/node/src/worker-table/sql-worker-store.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { fenceRequest } from '../../support/stores/fence-request.js';

const REACH_MS = grantReachMs(resolveLeaseOptions({}));
const WORKERS = { min: 1, max: 2 };
const DAY_MS = 86_400_000;
const SKIP = 1_000_000;

interface Server {
  readonly guard: { believed: { term: string; failoverNumber: number } | undefined };
  addWhatItLacks(...given: unknown[]): Promise<void>;
}

const serverOf = (store: SqlWorkerStore): Server => (store as unknown as { server: Server }).server;

interface State {
  readonly term: string;
  readonly epoch: number;
  readonly lostAtMs: number;
}

describe.each(['mariadb', 'postgres'] as const)('What is noted of the servers of %s', (kind) => {
  let database: TestDatabase;
  let admin: DataSource;
  const open: { close(): Promise<void> }[] = [];

  const store = (options: Partial<SqlWorkerStoreOptions> = {}): SqlWorkerStore => {
    const opened = openStore(database.options, { reachMs: REACH_MS, ...options });
    open.push(opened);
    return opened;
  };

  const looked = async (options: Partial<SqlWorkerStoreOptions> = {}): Promise<SqlWorkerStore> => {
    const opened = store(options);
    await opened.prepare(WORKERS);
    await opened.readTable();
    return opened;
  };

  const segments = async (): Promise<SqlSegmentStore> => {
    const opened = openSegmentStore(database.options, { skipAfterFailover: SKIP });
    open.push(opened);
    await opened.prepare();
    return opened;
  };

  const state = async (): Promise<State> => {
    const [row] = await admin.query<Record<string, string>[]>('SELECT * FROM soc_raindrop_worker_state');
    return { term: row!['term']!, epoch: Number(row!['epoch']), lostAtMs: Number(row!['lost_at_ms']) };
  };

  const change = (sql: string): Promise<unknown> => admin.query(`UPDATE soc_raindrop_worker_state SET ${sql}`);

  beforeEach(async () => {
    database = await testDatabase(kind);
    admin = await new DataSource(database.options).initialize();
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await Promise.all(open.splice(0).map((each) => each.close()));
    await admin.destroy();
    await database.drop();
  });

  /** Another process looks while this one is about to note what it has seen. */
  const meanwhile = (of: SqlWorkerStore, other: () => Promise<unknown>): void => {
    const server = serverOf(of);
    const add = server.addWhatItLacks.bind(server);
    jest.spyOn(server, 'addWhatItLacks').mockImplementationOnce(async (...given) => {
      await other();
      await add(...given);
    });
  };

  it('is the moment of a loss, also when another process raises the reach at the same moment', async () => {
    const process = await looked();
    const { epoch } = await state();
    // It was led to another server, of which the note has the same failover number: each lacks what the other one has.
    serverOf(process).guard.believed = { term: 'another', failoverNumber: epoch };
    meanwhile(process, () => looked({ reachMs: 2 * REACH_MS }));
    const { barredUntilMs, nowMs } = await process.readTable();
    expect(barredUntilMs! - nowMs).toBeGreaterThan(2 * REACH_MS - 5_000);
    expect((await state()).epoch).toBeGreaterThan(epoch);
  });

  it('is the moment of a loss, also when a process that knows of none takes the server for the first', async () => {
    const process = await looked();
    await admin.query('DELETE FROM soc_raindrop_worker_state');
    serverOf(process).guard.believed = { term: 'another', failoverNumber: 0 };
    meanwhile(process, () => looked());
    const { barredUntilMs, nowMs } = await process.readTable();
    expect(barredUntilMs! - nowMs).toBeGreaterThan(REACH_MS - 5_000);
    expect((await state()).lostAtMs).toBeGreaterThan(0);
  });

  it('is nothing by a clock that is refused', async () => {
    const process = await looked({ maxClockSkewMs: 30_000 });
    const other = await looked();
    await change(`term = 'the server before'`);
    const before = await state();
    const now = Date.now.bind(Date);
    jest.spyOn(wallClock, 'now').mockImplementation(() => now() - DAY_MS);
    await expect(process.readTable()).rejects.toMatchObject({ errorCode: 'CLOCK_SKEW' });
    expect(await state()).toEqual(before);
    jest.restoreAllMocks();
    const { barredUntilMs, nowMs } = await process.readTable();
    expect(barredUntilMs! - nowMs).toBeLessThanOrEqual(REACH_MS);
    expect((await other.readTable()).barredUntilMs).toBe(barredUntilMs);
  });

  it('is a loss of now after a fence whose operator says up to when IDs exist, where a clock of the past has put it a day ahead', async () => {
    const process = await looked();
    await change(`lost_at_ms = ${Date.now() + DAY_MS}`);
    expect((await process.readTable()).barredUntilMs).toBeGreaterThan(Date.now() + DAY_MS);
    await expect(process.fence(fenceRequest(1_000))).rejects.toMatchObject({ errorCode: 'CLOCK_BEHIND' });
    await process.fence(fenceRequest(1_000, { issuedUntilMs: Date.now() }));
    const { barredUntilMs, nowMs } = await process.readTable();
    expect(barredUntilMs! - nowMs).toBeLessThanOrEqual(REACH_MS);
    expect(await takeRow(process, 1)).toBe(true);
  });

  it('is behind the rows of numbers whose history is another one: they are skipped, never taken again', async () => {
    const numbersOf = async (code: string): Promise<bigint> =>
      (await (await segments()).source(code).reserve({ count: 100, above: 0n })).first;
    await numbersOf('moved');
    await numbersOf('still');
    // As after a failover, of which one code has heard.
    await admin.query(`UPDATE raindrop_segment_state SET term = 'the server before'`);
    expect(await numbersOf('moved')).toBe(BigInt(SKIP) + 101n);
    const lost = await numbersOf('moved');
    // The table is moved without its state, or the state was dropped.
    await admin.query('DELETE FROM raindrop_segment_state');
    expect(await numbersOf('still')).toBeGreaterThan(lost);
    expect(await numbersOf('moved')).toBeGreaterThan(lost + BigInt(SKIP));
    // A standby had a row and not the state that goes with it.
    await admin.query('UPDATE raindrop_segment_state SET epoch = 0');
    expect(await numbersOf('moved')).toBeGreaterThan(lost + BigInt(2 * SKIP));
    const [first, second] = [await numbersOf('still'), await numbersOf('still')];
    expect(second - first).toBe(100n);
  });

  it.each([false, true])(
    'serves the processes that run, where its state is dropped and noted by a fresh one (a fence before: %s)',
    async (isFenced) => {
      const living = await looked();
      if (isFenced) await living.fence(fenceRequest(100));
      await living.readTable();
      await admin.query('DELETE FROM soc_raindrop_worker_state');
      await looked();
      await expect(living.readTable()).resolves.toBeDefined();
    },
  );

  it('gives numbers to the processes that run, where the tables of numbers are emptied after a failover', async () => {
    const living = await segments();
    const source = living.source('order');
    await source.reserve({ count: 100, above: 0n });
    await admin.query(`UPDATE raindrop_segment_state SET term = 'the server before'`);
    await source.reserve({ count: 1, above: 0n });
    await living.source('other').reserve({ count: 1, above: 0n });
    await admin.query('DELETE FROM raindrop_segment_state');
    await admin.query('DELETE FROM raindrop_segment');
    await (await segments()).source('third').reserve({ count: 1, above: 0n });
    await expect(living.source('fourth').reserve({ count: 1, above: 0n })).resolves.toBeDefined();
  });

  it('is noted once by ten processes at the same moment', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => looked()));
    await admin.query(`UPDATE soc_raindrop_worker_state SET term = 'the server before'`);
    const tables = await Promise.all(all.map((each) => each.readTable()));
    expect(new Set(tables.map(({ barredUntilMs }) => barredUntilMs)).size).toBe(1);
    const rows = await Promise.all(all.map((each) => each.readRow(1)));
    const taken = await Promise.all(all.map((each, index) => each.write(writeTo(rows[index]!.row!))));
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  it('is noted by ten processes that reserve numbers at the same moment, and fails none of them', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => segments()));
    const sources = all.map((each, index) => each.source(`code ${index % 3}`));
    await Promise.all(sources.map((each) => each.reserve({ count: 1, above: 0n })));
    const failures = new Set<unknown>();
    for (let times = 0; times < 30; times++) {
      const fresh = all.map((each, index) => each.source(`code ${index % 3}`));
      const reserving = [...sources, ...fresh].map((each) => each.reserve({ count: 1, above: 0n }));
      await admin.query(`UPDATE raindrop_segment_state SET term = 'the server before', epoch = epoch`);
      for (const each of await Promise.allSettled(reserving)) {
        if (each.status === 'rejected') failures.add((each.reason as { cause: unknown }).cause);
      }
    }
    expect([...failures]).toEqual([]);
  });
});
