import type { DataSource } from 'typeorm';
import type { PastIds } from '@raindrop/core';
import { SILENT } from '../../../../test/support/module/start-app.js';
import {
  type DatabaseKind,
  databaseKinds,
  kindsOfTier,
  type TestDatabase,
} from '../../../../test/support/servers/test-databases.js';
import { onFreshDatabase } from '../../../../test/support/stores/fresh-database.js';
import { openIdService } from './open-id-service.js';
import { fenceWorkers } from '../workers/fence-workers.js';
import { openBackfill, type BackfillOptions } from '../workers/open-backfill.js';

const BITS = { startTimeStamp: '2016-01-01', timeStampLength: 33, workIdLength: 10, serviceMaxWorkId: 3 };
const FROM = Date.parse('2016-04-01T00:00:00Z');
const DAY = 86_400_000;

describe.each(databaseKinds)('A backfill on %s', (kind: DatabaseKind) => {
  let database: TestDatabase;
  let admin: DataSource;
  onFreshDatabase(kind, async (fresh, connection) => {
    database = fresh;
    admin = connection;
    await admin.query('CREATE TABLE orders (id BIGINT PRIMARY KEY, note VARCHAR(20))');
  });

  const options = (more: Partial<BackfillOptions> = {}): BackfillOptions => ({
    dbConfig: database.options,
    logger: SILENT,
    ...BITS,
    from: FROM,
    tables: ['orders'],
    ...more,
  });

  const ofDays = (ids: PastIds, count = 300): bigint[] =>
    Array.from({ length: count }, (_, day) => ids.at(FROM + day * DAY));

  const insert = async (...ids: readonly bigint[]): Promise<void> => {
    for (const id of ids) await admin.query(`INSERT INTO orders (id) VALUES (${id})`);
  };

  /** The worker table, and all that the database knows of it. */
  const loseWorkers = async (): Promise<void> => {
    for (const part of ['', '_state', '_layout']) await admin.query(`DROP TABLE soc_raindrop_worker${part}`);
  };

  it('gives IDs of the rows own times, next to services that go on', async () => {
    const service = await openIdService({ dbConfig: database.options, logger: SILENT, ...BITS });
    const before = Array.from({ length: 100 }, () => service.nextId());
    const ids = await openBackfill(options());
    const past = ofDays(ids);
    expect(past.map((id) => service.parse(id).time.getTime())).toEqual(past.map((_, day) => FROM + day * DAY));
    expect(new Set(past.map((id) => service.parse(id).workerId))).toEqual(new Set([ids.workerId]));
    const after = Array.from({ length: 100 }, () => service.nextId());
    expect(new Set([...before, ...past, ...after]).size).toBe(500);
    await service.close();
  });

  it('that names a table which cannot be searched reserves nothing', async () => {
    const only = { serviceMaxWorkId: 1 };
    for (let each = 0; each < 3; each++) {
      for (const tables of [['nowhere'], [{ table: 'orders', column: 'note' }]]) {
        await expect(openBackfill(options({ ...only, tables }))).rejects.toThrow('tables');
      }
    }
    for (const lane of [0, 1]) expect(await openBackfill(options(only))).toMatchObject({ workerId: 1, lane });
  });

  it('of the same years gets a row or lane of its own, until there is none: then it is refused', async () => {
    const all: bigint[] = [];
    for (let each = 0; each < 6; each++) all.push(...ofDays(await openBackfill(options()), 10));
    expect(new Set(all).size).toBe(60);
    await expect(openBackfill(options())).rejects.toMatchObject({ errorCode: 'NO_ROW_FOR_PAST' });
    const later = await openBackfill(options({ serviceMinWorkId: 4, serviceMaxWorkId: 5 }));
    expect(all).not.toContain(later.at(FROM));
  });

  it('takes another row where a table has IDs of the worker that its row does not know of', async () => {
    const first = await openBackfill(options());
    await insert(...ofDays(first, 3));
    // The worker table is lost, or is restored without what was reserved.
    await loseWorkers();
    const again: bigint[] = [];
    const seen: string[] = [];
    for (let each = 0; each < 5; each++) {
      const ids = await openBackfill(options());
      seen.push(`${ids.workerId}/${ids.lane}`);
      again.push(...ofDays(ids, 3));
    }
    expect(seen).not.toContain(`${first.workerId}/${first.lane}`);
    expect(again.filter((id) => ofDays(first, 0).includes(id))).toEqual([]);
    expect(new Set(seen).size).toBe(5);
    await insert(...again);
  });

  it('repeats those IDs where no table is searched: the control', async () => {
    const only = { serviceMaxWorkId: 1, tables: [] };
    const first = ofDays(await openBackfill(options(only)), 3);
    await loseWorkers();
    expect(ofDays(await openBackfill(options(only)), 3)).toEqual(first);
  });

  it('is refused where the tables have IDs of every worker, with the ID that is in the way', async () => {
    const { layout } = await openBackfill(options({ serviceMinWorkId: 9, serviceMaxWorkId: 9 }));
    const tick = layout.timeline.tickAt(FROM) + 5;
    for (const workerId of [1, 2, 3]) {
      for (const clockBack of [0, 1]) await insert(layout.pack({ tick, workerId, clockBack, sequence: 7 }));
    }
    await expect(openBackfill(options())).rejects.toMatchObject({
      errorCode: 'PAST_OCCUPIED',
      column: 'orders.id',
      id: expect.stringMatching(/^\d+$/) as unknown,
    });
    // The search finds no ID after that time.
    const later = await openBackfill(options({ from: FROM + DAY, serviceMinWorkId: 1 }));
    expect(layout.unpack(later.at(FROM + DAY)).tick).toBe(layout.timeline.tickAt(FROM + DAY));
  });

  it('finds the keys that were numbered before there were IDs, where they lie in the stretch', async () => {
    const old = { ...options(), from: '2016-01-01', to: '2016-01-02', tables: ['orders'] };
    await insert(1n, 2n, 1_000_000n);
    const ids = await openBackfill(old);
    const issued = Array.from({ length: 100 }, (_, second) => ids.at(Date.parse('2016-01-01') + second * 1_000));
    await insert(...issued);
    expect(issued).not.toContain(1n);
  });

  it('after a fence is refused below it, and says so; a new worker table and range of its own serve', async () => {
    await openBackfill(options());
    await fenceWorkers({ dbConfig: database.options, ...BITS });
    const refused = openBackfill(options());
    await expect(refused).rejects.toMatchObject({ errorCode: 'NO_ROW_FOR_PAST' });
    const other = options({ tableName: 'imports', serviceMinWorkId: 1_001, serviceMaxWorkId: 1_002 });
    expect((await openBackfill(other)).workerId).toBeGreaterThan(1_000);
  });

  it('takes the layout that the table remembers', async () => {
    const bits = { dbConfig: database.options, logger: SILENT, serviceMaxWorkId: 3 };
    const service = await openIdService({
      ...bits,
      startTimeStamp: '2015-01-01',
      timeStampLength: 35,
      workIdLength: 6,
    });
    const ids = await openBackfill({ ...bits, from: '2015-06-01', to: '2015-07-01', tables: [] });
    expect(ids.layout.fingerprint).toBe(service.layout.fingerprint);
    await service.close();
  });

  // What no statement tells is refused alike.
  const refused: readonly [string, Partial<Record<keyof BackfillOptions, unknown>>, string][] = [
    ['from', { from: undefined }, 'is required'],
    ['from', { from: 'yesterday' }, 'an ISO string'],
    ['from', { from: '2015-12-31' }, 'startTimeStamp'],
    ['to', { to: '2999-01-01' }, 'after now'],
    ['to', { to: '2016-03-01' }, 'before from'],
    ['tables', { tables: undefined }, 'says that none has any'],
    ['tables', { tables: ['or;ders'] }, 'the tables that have IDs'],
    ['tables', { tables: ['nowhere'] }, 'does not exist'],
    ['tables', { tables: [{ table: 'orders', column: 'note' }] }, 'only integer columns'],
    ['idMode', { idMode: 'numberSection' }, 'have no time'],
    ['workerIdAssigner', { workerIdAssigner: 'ip', dbConfig: undefined }, 'reserves nothing'],
    ['sharedWithOriginal', { sharedWithOriginal: true }, 'know no odometers'],
    ['maxAheadMs', { maxAheadMs: -1 }, '0 to 60000'],
    ['tabels', { tabels: [] } as never, 'did you mean tables'],
  ];
  it.each(refused.filter(([, , says]) => kindsOfTier.includes(kind) || /exist|integer/.test(says)))(
    'refuses %s %j',
    async (option, more, says) => {
      const failing = openBackfill(options(more as Partial<BackfillOptions>));
      await expect(failing).rejects.toMatchObject({
        problems: expect.arrayContaining([expect.objectContaining({ option })]) as unknown,
      });
      await expect(failing).rejects.toThrow(says);
    },
  );
});
