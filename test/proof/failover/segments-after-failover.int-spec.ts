import type { ReservedSegment, SegmentSource } from '@raindrop/core';
import { openAppSegmentStore, openSegmentStore } from '../../support/stores/open-segment-store.js';
import { MariadbPair } from '../../support/servers/mariadb-pair.js';
import { PostgresPair } from '../../support/servers/postgres-pair.js';
import { PAIR_ACCOUNTS, PAIR_DATABASE, type ServerPair } from '../../support/servers/server-pair.js';
import { until } from '../../support/until.js';
import { TcpSwitch } from '../../support/proxies/tcp-switch.js';

jest.setTimeout(120_000);

const ENGINES = [
  {
    engine: 'PostgreSQL',
    start: (): Promise<ServerPair> => PostgresPair.start(),
    account: PAIR_ACCOUNTS.postgres,
  },
  {
    engine: 'MariaDB',
    start: (): Promise<ServerPair> => MariadbPair.start(),
    account: PAIR_ACCOUNTS.mariadb,
  },
] as const;

interface Process {
  readonly old: SegmentSource;
  /** Of a code that no process has used before the loss. */
  readonly fresh: SegmentSource;
  readonly app: SegmentSource;
  readonly other: SegmentSource;
}

describe.each(ENGINES)('Segments of a $engine that fails over and loses reservations', ({ start, account }) => {
  let pair: ServerPair;
  const stores: { close(): Promise<void> }[] = [];

  const open = async (
    skipAfterFailover: number,
    port = pair.primary.port,
    maxSessionAgeMs = 60_000,
  ): Promise<Process> => {
    const options = { ...account, host: '127.0.0.1', port };
    const codes = openSegmentStore(options, { skipAfterFailover, maxSessionAgeMs });
    const apps = openAppSegmentStore(options, { skipAfterFailover, maxSessionAgeMs });
    stores.push(codes, apps);
    await Promise.all([codes.prepare(), apps.prepare()]);
    await apps.registerApp(1, 'shop', '');
    return {
      old: codes.source('old'),
      fresh: codes.source('fresh'),
      app: apps.source(1, 7),
      other: codes.source('other'),
    };
  };

  const openWay = async (): Promise<TcpSwitch> => {
    const way = await TcpSwitch.atFreePort();
    stores.push({ close: () => way.stop() });
    return way;
  };

  /** What one process reserves before the end of the primary, and another one after it. */
  const acrossFailover = async (skip: number): Promise<[before: ReservedSegment[], after: ReservedSegment[]]> => {
    const first = await open(skip);
    const before = [await first.old.reserve({ above: 0n }), await first.app.reserve({ above: 0n })];
    await pair.addStandby();
    await pair.holdReplication();
    for (let each = 0; each < 5; each++) {
      for (const source of [first.old, first.fresh, first.app]) before.push(await source.reserve({ above: 0n }));
    }
    await pair.killPrimary();
    await pair.promote();
    const second = await open(skip);
    const after = [];
    for (let each = 0; each < 3; each++) {
      for (const source of [second.old, second.fresh, second.app]) after.push(await source.reserve({ above: 0n }));
    }
    return [before, after];
  };

  beforeEach(async () => {
    pair = await start();
  });

  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()));
    await pair.stop();
  });

  it('skip more than was lost, once: of codes, of new codes, and of apps', async () => {
    const [before, after] = await acrossFailover(100_000);
    const [old, fresh, app] = [after[0]!, after[1]!, after[2]!];
    // One reservation of an old row was there before the loss.
    expect([old.first, fresh.first, app.first]).toEqual([101_001n, 100_001n, 101_001n]);
    for (const { last } of before) expect(last).toBeLessThan(100_001n);
    expect([after[3]!.first, after[4]!.first, after[5]!.first]).toEqual([102_001n, 101_001n, 102_001n]);
  });

  it('would come twice without the skip: the control', async () => {
    const [before, after] = await acrossFailover(0);
    const taken = new Set(before.map(({ first }) => first));
    expect(after.filter(({ first }) => taken.has(first))).toHaveLength(9);
  });

  it('of a shard that no process had used, and of a code whose first reservation after a failover was lost, skip, too', async () => {
    const first = await open(100_000);
    await first.old.reserve({ above: 0n });
    await pair.addStandby();
    await pair.holdReplication();
    // Registered long ago; all that it has given out is lost.
    const lostOfShard = await first.app.reserve({ above: 0n });
    await pair.killPrimary();
    await pair.promote();
    const second = await open(100_000);
    expect((await second.app.reserve({ above: 0n })).first).toBeGreaterThan(lostOfShard.last);

    // Somebody has used the second server; the old code was not used there, until shortly before its end.
    await second.other.reserve({ above: 0n });
    await pair.addStandby();
    await pair.holdReplication();
    const lost = [await second.old.reserve({ above: 0n }), await second.fresh.reserve({ above: 0n })];
    expect(lost.map((each) => each.first)).toEqual([101_001n, 100_001n]);
    await pair.killPrimary();
    await pair.promote();
    const third = await open(100_000);
    const after = [await third.old.reserve({ above: 0n }), await third.fresh.reserve({ above: 0n })];
    expect(after.map((each) => each.first)).toEqual([201_001n, 200_001n]);
  });

  it('are not given back on another server than the one that gave them', async () => {
    const way = await openWay();
    way.pointTo(pair.primary.port);
    const first = await open(100_000, way.port);
    const { last } = await first.old.reserve({ above: 0n });
    await pair.addStandby();
    await pair.killPrimary();
    await pair.promote();
    way.pointTo(pair.primary.port);
    expect(await first.old.giveBack({ first: last - 9n, last }).catch(() => false)).toBe(false);
    expect((await first.old.reserve({ above: 0n })).first).toBe(last + 100_001n);
  });

  it('skip nothing after a plain restart, nor for a new code then', async () => {
    const { old } = await open(100_000);
    await old.reserve({ above: 0n });
    await pair.primary.kill('SIGKILL');
    await pair.primary.restart();
    const after = await open(100_000);
    expect(await after.old.reserve({ above: 0n })).toMatchObject({ first: 1_001n });
    expect(await after.fresh.reserve({ above: 0n })).toMatchObject({ first: 1n });
  });

  it('are not given out, nor is anything written, by a standby', async () => {
    const first = await open(100_000);
    await first.old.reserve({ above: 0n });
    await pair.addStandby();
    const codes = openSegmentStore({ ...account, host: '127.0.0.1', port: pair.standby.port });
    stores.push(codes);
    await codes.prepare();
    for (const code of ['old', 'fresh']) {
      const refused = codes.source(code).reserve({ above: 0n });
      await expect(refused).rejects.toThrow('answered from a replica');
    }
  });

  it('are not taken, by a session that is too old, from a primary that was replaced and lives on', async () => {
    const way = await openWay();
    way.pointTo(pair.primary.port);
    const careless = await open(100_000, way.port);
    const careful = await open(100_000, way.port, 500);
    const openedAt = performance.now();
    await careless.old.reserve({ above: 0n });
    const { last } = await careful.old.reserve({ above: 0n });
    await pair.addStandby();
    await pair.divide();
    way.pointNewOnesTo(pair.primary.port);
    await until('a session to be too old', () => performance.now() - openedAt > 500);
    // Sessions that are there go on; the control gets what others get as well.
    expect(await careless.old.reserve({ above: 0n })).toMatchObject({ first: last + 1n });
    expect((await careful.old.reserve({ above: 0n })).first).toBe(last + 100_001n);
    expect((await careful.app.reserve({ above: 0n })).first).toBeGreaterThanOrEqual(1n);
    expect((await careful.fresh.reserve({ above: 0n })).first).toBe(100_001n);
  });

  it('begin anew above the skip, at once, where a session that is too old still shows the row', async () => {
    const way = await openWay();
    way.pointTo(pair.primary.port);
    const careless = await open(100_000, way.port);
    const careful = await open(100_000, way.port, 500);
    const openedAt = performance.now();
    await careful.old.reserve({ above: 0n });
    await pair.addStandby();
    await pair.holdReplication();
    expect((await careless.fresh.reserve({ above: 0n })).first).toBe(1n);
    await pair.divide();
    way.pointNewOnesTo(pair.primary.port);
    await until('a session to be too old', () => performance.now() - openedAt > 500);
    expect((await careful.fresh.reserve({ above: 0n })).first).toBe(100_001n);
  });

  it('are exhausted where the skip does not fit any more', async () => {
    const first = await open(100_000);
    await first.old.reserve({ above: 0n });
    const schema = account.type === 'mariadb' ? `${PAIR_DATABASE}.` : '';
    await pair.query(pair.primary, `UPDATE ${schema}raindrop_segment SET max_limit_id = 50000 WHERE code = 'old'`);
    await pair.addStandby();
    await pair.killPrimary();
    await pair.promote();
    const after = await open(100_000);
    await expect(after.old.reserve({ above: 0n })).rejects.toMatchObject({ errorCode: 'SEGMENT_EXHAUSTED' });
  });
});
