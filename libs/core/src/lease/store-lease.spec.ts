import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';

const writes = (bench: KeeperBench): number => bench.store.writes.length;

/** Issues every `everyMs` for `forMs`; answers with the codes of the calls that failed. */
async function issueFor(bench: KeeperBench, forMs: number, everyMs = 250): Promise<string[]> {
  const failures: string[] = [];
  for (let passed = 0; passed < forMs; passed += everyMs) {
    await bench.advance(everyMs);
    const refusal = bench.refusal();
    if (refusal !== undefined) failures.push(refusal);
  }
  return failures;
}

describe('a renewal', () => {
  it('comes with every heartbeat, a tenth of jitter aside', async () => {
    const bench = await KeeperBench.started();
    await bench.advance(600_000);
    const renewals = writes(bench) - 1;
    expect(renewals).toBeGreaterThanOrEqual(60);
    expect(renewals).toBeLessThanOrEqual(67);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', renewals, failures: 0, lastError: undefined });
  });

  it('rotates the token, counts the version up and moves lease and odometer on', async () => {
    const bench = await KeeperBench.started();
    const [id, before] = [bench.workerId!, bench.database.row(bench.workerId!)];
    await bench.advance(10_000);
    const after = bench.database.row(id);
    expect(after.version).toBe(before.version + 1);
    expect(after.ownVersion).toBe(after.version);
    expect(after.token).not.toBe(before.token);
    expect(after.leaseUntilMs).toBeGreaterThan(before.leaseUntilMs + 8_000);
    expect(after.odometers[0].ms).toBeGreaterThan(before.odometers[0].ms + 8_000);
    expect(after.odometers[1]).toEqual(before.odometers[1]);
  });

  it('is asked for by a generator whose reservation runs low, not more often than every 20 ms', async () => {
    const bench = await KeeperBench.started({ lease: { heartbeatIntervalMs: 50_000, leaseMs: 60_000 } });
    bench.time.freeze(33_000);
    bench.issue();
    bench.issue();
    await bench.advance(20);
    expect(writes(bench)).toBe(2);
    expect(await issueFor(bench, 1_000, 1)).toEqual([]);
    expect(writes(bench)).toBe(2);
  });

  it('never lowers what was granted, also when the clock is behind', async () => {
    const bench = await KeeperBench.started();
    const granted = bench.database.row(bench.workerId!).odometers[0];
    bench.time.step(-20_000);
    await bench.advance(10_000);
    expect(bench.database.row(bench.workerId!).odometers[0]).toEqual(granted);
  });

  it('clamps its target to the clock of the database', async () => {
    const bench = await KeeperBench.started();
    bench.time.step(29_999);
    await bench.advance(10_000);
    const { ms } = bench.database.row(bench.workerId!).odometers[0];
    expect(ms).toBeLessThanOrEqual(bench.database.time.wall + 30_000 + 65_000);
  });

  it('raises an odometer again that was lowered by hand while the holder lives', async () => {
    const bench = await KeeperBench.started();
    const id = bench.workerId!;
    bench.issue();
    bench.database.change(id, { odometers: [{ ms: 0, sequence: -1 }, bench.database.row(id).odometers[1]] });
    await bench.advance(10_000);
    expect(bench.database.row(id).odometers[0].ms).toBeGreaterThan(bench.time.wall);
  });

  it('counts its lease from before the request was sent', async () => {
    const bench = await KeeperBench.started({ lease: { leaseMs: 20_000 } });
    bench.store.faultFor = () => ({ kind: 'slow', thereMs: 0, backMs: 1_000 });
    await bench.advance(12_000);
    const { leaseLeftMs } = bench.keeper.status();
    expect(leaseLeftMs).toBeLessThanOrEqual(19_000);
  });

  it('goes on when a listener throws', async () => {
    const bench = await KeeperBench.started();
    jest.spyOn(bench.events, 'push').mockImplementation(() => {
      throw new Error('a careless listener');
    });
    bench.store.goDown();
    await bench.advance(30_000);
    bench.store.comeBack();
    await bench.advance(30_000);
    expect(bench.keeper.status()).toMatchObject({ state: 'held', lastError: undefined });
  });
});

describe('a database outage', () => {
  it.each(['refused', 'hangs'] as const)('of 47 s costs not one failed call (%s)', async (kind) => {
    for (const when of [1, 3_000, 6_000, 8_999]) {
      const bench = await KeeperBench.started();
      await issueFor(bench, when);
      bench.store.faultFor = () => ({ kind });
      expect(await issueFor(bench, 47_000)).toEqual([]);
      bench.store.comeBack();
      expect(await issueFor(bench, 60_000)).toEqual([]);
      expect(new Set(bench.issued).size).toBe(bench.issued.length);
      expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual(['lease-acquired']);
    }
  });

  it('is met by an attempt at least every 800 ms', async () => {
    const bench = await KeeperBench.started();
    bench.store.goDown();
    await bench.advance(10_000);
    const before = bench.store.calls.length;
    await bench.advance(8_000);
    expect(bench.store.calls.length - before).toBeGreaterThanOrEqual(10);
    expect(bench.store.calls.length - before).toBeLessThanOrEqual(12);
  });

  it('longer than the lease ends in LeaseLostError, which is worth retrying, and heals within a second', async () => {
    const bench = await KeeperBench.started();
    bench.store.goDown();
    const failures = await issueFor(bench, 200_000);
    expect(new Set(failures)).toEqual(new Set(['LEASE_LOST']));
    expect(failures.length).toBeGreaterThanOrEqual((200_000 - 60_000) / 250);
    expect(bench.keeper.admit(bench.time.wall)).toMatchObject({ retryable: true, workerId: bench.workerId });
    bench.store.comeBack();
    const waiting = bench.generator.nextIdAsync();
    await bench.advance(1_000);
    bench.issued.push(await waiting);
    expect(await issueFor(bench, 30_000)).toEqual([]);
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
    expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual([
      'lease-acquired',
      'lease-lost',
      'lease-regained',
    ]);
  });

  it('a little longer than the lease leaves the row free for the same process again', async () => {
    const bench = await KeeperBench.started({ layout: { serviceMaxWorkId: 1 } });
    bench.store.goDown();
    await issueFor(bench, 75_000);
    bench.store.comeBack();
    expect((await issueFor(bench, 5_000)).length).toBeLessThanOrEqual(4);
    expect(bench.workerId).toBe(1);
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
  });
});

/** Without grace: any process may take a row whose lease has run out. */
const NO_GRACE: KeeperBenchOptions = { lease: { graceMs: 0 } };

/** Its IDs are larger than those of the usual layout, for the next four years; so it may come after that one is gone. */
const LARGER: KeeperBenchOptions = { layout: { startTimeStamp: '2020-01-01' } };

describe('a lease that has run out', () => {
  it('is not revived but given back, and the next one is another tenure', async () => {
    const bench = await KeeperBench.started({ layout: { serviceMaxWorkId: 1 } });
    bench.issue();
    bench.store.goDown();
    await bench.advance(61_000);
    bench.store.comeBack();
    await bench.advance(1_000);
    expect(bench.keeper.number).toBe(2);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual([
      'lease-acquired',
      'lease-lost',
      'lease-regained',
    ]);
  });

  it('by the clock of the database alone is given back as well', async () => {
    const bench = await KeeperBench.started();
    bench.issue();
    bench.database.time.step(7_200_000);
    await bench.advance(10_000);
    expect(bench.story).toContain('lease-lost');
    expect(bench.keeper.status().lastError).toMatchObject({ errorCode: 'CLOCK_SKEW' });
  });

  it('issues nothing while it is being given back, whatever the clock shows', async () => {
    const bench = await KeeperBench.started();
    const wall = bench.time.wall;
    bench.issue();
    bench.database.time.step(7_200_000);
    bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 1_000 });
    bench.keeper.requestExtension();
    await bench.advance(20);
    expect(bench.database.row(bench.workerId!).token).toBe('');
    bench.time.setWall(wall);
    expect(bench.refusal()).toBe('LEASE_LOST');
    bench.time.step(1);
    expect(bench.refusal()).toBe('LEASE_LOST');
  });

  it('is regained within a second when the answer to its renewal came too late', async () => {
    const bench = await KeeperBench.started();
    bench.store.goDown();
    await bench.advance(57_200);
    bench.store.comeBack();
    bench.store.next('write', { kind: 'slow', thereMs: 0, backMs: 2_900 });
    await bench.advance(4_900);
    expect(bench.store.abandoned).toBe(0);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.keeper.number).toBe(2);
  });
});

describe('another layout that came in while a lease had run out', () => {
  /** Lives for so long and starts the other layout at the given moment. */
  async function withOther(bench: KeeperBench, atMs: number, untilMs: number): Promise<KeeperBench> {
    const other = new KeeperBench({ database: bench.database, ...LARGER, lease: { graceMs: 0 } });
    await bench.advance(atMs);
    await other.keeper.start();
    await bench.advance(untilMs - atMs);
    return other;
  }

  it('keeps the holder from going on, whose read came before and whose write after', async () => {
    const bench = await KeeperBench.started({ ...NO_GRACE, lease: { ...NO_GRACE.lease, opTimeoutMs: 5_000 } });
    bench.store.next('write', { kind: 'slow', thereMs: 3_000, backMs: 0 });
    await bench.advance(13_000);
    const until = bench.database.row(bench.workerId!).leaseUntilMs;
    const left = until - bench.database.time.wall;
    bench.store.goDown();
    await bench.advance(left - 900);
    bench.store.comeBack();
    bench.store.next('write', { kind: 'slow', thereMs: 2_500, backMs: 0 });
    expect(bench.refusal()).toBe('LEASE_LOST');
    const other = await withOther(bench, 1_000, 30_000);
    expect(other.refusal()).toBeUndefined();
    expect(bench.refusal()).toBe('LEASE_LOST');
    expect(bench.keeper.status().lastError).toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
  });

  it('keeps the holder from going on, whose write was executed afterwards as a ghost', async () => {
    const bench = await KeeperBench.started({ ...NO_GRACE, lease: { ...NO_GRACE.lease, opTimeoutMs: 1_000 } });
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'refused' } : undefined);
    await bench.advance(58_500);
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'ghost', afterMs: 2_500 } : { kind: 'refused' });
    bench.store.next('readRow', undefined);
    await bench.advance(1_400);
    expect(bench.refusal()).toBeUndefined();
    const other = await withOther(bench, 200, 3_000);
    bench.store.comeBack();
    await bench.advance(30_000);
    expect(other.refusal()).toBeUndefined();
    expect(bench.refusal()).toBe('LEASE_LOST');
  });
});

describe('a keeper whose generator does not say what was issued', () => {
  it('takes all that was granted for issued', async () => {
    const layout = { timeUnit: 'hour', timeStampLength: 45, serviceMaxWorkId: 1 } as const;
    const bench = await KeeperBench.started({ layout, reports: false });
    const limit = bench.keeper.limit[0];
    for (let count = 0; count < 5; count++) bench.issue();
    await bench.keeper.close();
    expect(bench.database.row(1).odometers[0].sequence).toBe(limit.sequence);
    const next = await KeeperBench.started({ database: bench.database, layout });
    expect(next.next()).toMatch(/:0:16$/);
  });
});

/** Reserves in blocks of one, so that every ID beyond the first needs a write. */
const BLOCKS: KeeperBenchOptions = {
  layout: { timeUnit: 'hour', timeStampLength: 45, workIdLength: 3 },
  lease: { heartbeatIntervalMs: 5_000, leaseMs: 60_000 },
};

describe('a renewal whose answer was lost', () => {
  it('is not granted until a read shows its token, and then it is', async () => {
    const bench = await KeeperBench.started();
    const [id, before] = [bench.workerId!, bench.keeper.limit];
    bench.store.next('write', { kind: 'answer-lost' });
    await bench.advance(10_000);
    expect(bench.database.row(id).version).toBe(2);
    expect(bench.keeper.limit).toEqual(before);
    bench.store.next('write', { kind: 'hangs' });
    await bench.advance(900);
    expect(bench.keeper.limit[0].tick).toBeGreaterThan(before[0].tick);
    expect(bench.database.row(id).version).toBe(2);
  });

  it('counts from when it was sent, not from when it was adopted', async () => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'answer-lost' }, { kind: 'hangs' });
    await bench.advance(11_000);
    expect(bench.keeper.status().leaseLeftMs).toBeLessThan(60_000 - 800);
  });

  it('a dozen times in a row loses nothing and repeats nothing', async () => {
    const bench = await KeeperBench.started();
    for (let round = 0; round < 12; round++) {
      bench.store.next('write', { kind: 'answer-lost' });
      await bench.advance(10_000);
      bench.issue();
      bench.issue();
    }
    expect(new Set(bench.issued).size).toBe(24);
    expect(bench.story).not.toContain('lease-lost');
  });
});

describe('a renewal that was lost on its way', () => {
  it('is repeated', async () => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'hangs' });
    await bench.advance(20_000);
    expect(bench.story).toEqual(['lease-acquired', 'lease-trouble']);
    expect(bench.keeper.status().leaseLeftMs).toBeGreaterThan(45_000);
    expect(bench.store.abandoned).toBe(1);
  });
});

describe('a renewal that is executed late', () => {
  it.each([3_100, 3_500, 4_000, 12_000])('by %d ms is harmless', async (afterMs) => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'ghost', afterMs });
    for (let passed = 0; passed < 60_000; passed += 100) {
      await bench.advance(100);
      bench.issue();
    }
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
    expect(bench.story).not.toContain('lease-lost');
    expect(bench.database.row(bench.workerId!).odometers[0].ms).toBeGreaterThan(bench.time.wall);
  });

  it('between the re-read and the next attempt is adopted by the read after that', async () => {
    const bench = await KeeperBench.started();
    bench.store.next('write', { kind: 'ghost', afterMs: 4_500 });
    await bench.advance(10_000);
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'slow', thereMs: 1_500, backMs: 0 } : undefined);
    await bench.advance(10_000);
    expect(bench.database.row(bench.workerId!).version).toBeGreaterThanOrEqual(3);
    expect(bench.story).not.toContain('lease-lost');
    expect(bench.refusal()).toBeUndefined();
  });

  it('after the row went to another process does nothing', async () => {
    const options = { layout: { serviceMaxWorkId: 1 }, lease: { leaseMs: 20_000, graceMs: 0 } };
    const bench = await KeeperBench.started(options);
    bench.store.next('write', { kind: 'ghost', afterMs: 60_000 });
    await bench.advance(9_999);
    bench.kill();
    await bench.advance(20_000);
    const next = await KeeperBench.started({ ...options, database: bench.database });
    const { token } = bench.database.row(1);
    await bench.advance(60_000);
    expect(bench.database.row(1).token).not.toBe(bench.store.writes[1]!.token);
    expect(token).not.toBe('');
    expect(next.story).not.toContain('lease-lost');
  });
});

describe('an ambiguous reservation of a block', () => {
  it('bars what it would grant until it is known', async () => {
    const bench = await KeeperBench.started(BLOCKS);
    const block = bench.keeper.limit[0].sequence + 1;
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'answer-lost' } : undefined);
    for (let count = 0; count < block; count++) bench.issue();
    expect(bench.refusal()).toBe('RESERVATION_EXHAUSTED');
    await bench.advance(20);
    expect(bench.database.row(bench.workerId!).odometers[0].sequence).toBeGreaterThanOrEqual(block);
    expect(bench.refusal()).toBe('RESERVATION_EXHAUSTED');
    await bench.advance(900);
    expect(bench.refusal()).toBeUndefined();
    expect(new Set(bench.issued).size).toBe(block + 1);
  });
});

async function renewed(options: KeeperBenchOptions = {}): Promise<KeeperBench> {
  const bench = await KeeperBench.started(options);
  await bench.advance(25_000);
  bench.issue();
  return bench;
}

describe('a worker that is gone', () => {
  it.each([
    { how: 'deleted', take: (database: WorkerDatabase, id: number) => void database.table.rows.delete(id) },
    {
      how: 'taken by another of ours',
      take: (database: WorkerDatabase, id: number) => {
        const version = database.row(id).version + 1;
        database.change(id, { version, ownVersion: version, token: 'of another', holder: 'another host' });
      },
    },
    {
      how: 'written by another program',
      take: (database: WorkerDatabase, id: number) => database.writeAsForeigner(id),
      lease: { sharedWithOriginal: true },
    },
    {
      how: 'released by hand',
      take: (database: WorkerDatabase, id: number) => database.change(id, { token: '', version: 0, ownVersion: 0 }),
    },
  ])('because it was $how is left at the next heartbeat, and another one serves', async ({ take, lease = {} }) => {
    const bench = await renewed({ lease, database: await WorkerDatabase.withRows({ min: 1, max: 3 }) });
    const id = bench.workerId!;
    take(bench.database, id);
    const row = bench.database.table.rows.get(id);
    await bench.advance(11_000);
    expect(bench.story).toEqual(['lease-acquired', 'lease-lost', 'lease-regained']);
    expect(bench.refusal()).toBeUndefined();
    if (row?.token !== '') {
      expect(bench.workerId).not.toBe(id);
      expect(bench.database.table.rows.get(id)).toEqual(row);
    }
  });

  it('stops at once: not one more ID between the news and the next worker', async () => {
    const bench = await renewed({ layout: { serviceMaxWorkId: 1 } });
    const version = bench.database.row(1).version + 1;
    bench.database.change(1, {
      version,
      ownVersion: version,
      token: 'of another',
      leaseUntilMs: bench.time.wall + 9e5,
    });
    await bench.advance(11_000);
    expect(bench.refusal()).toBe('LEASE_LOST');
    expect(bench.keeper.status()).toMatchObject({ state: 'lost', workerId: undefined, leaseLeftMs: 0 });
    await bench.advance(9e5 + 60_000);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.issued[1]).toBeGreaterThan(bench.issued[0]!);
  });

  it('tells who has it now', async () => {
    const bench = await renewed();
    const version = bench.database.row(bench.workerId!).version + 1;
    bench.database.change(bench.workerId!, { version, ownVersion: version, token: 'x', holder: 'web-7 (pid 12)' });
    await bench.advance(11_000);
    expect(bench.events).toContainEqual(
      expect.objectContaining({ type: 'lease-lost', reason: 'its row was taken by web-7 (pid 12)' }),
    );
  });

  it('never adopts the version of a thief', async () => {
    const bench = await renewed();
    const id = bench.workerId!;
    const thief = { version: 99, ownVersion: 99, token: 'of a thief', leaseUntilMs: bench.time.wall + 1e9 };
    bench.database.change(id, thief);
    await bench.advance(120_000);
    expect(bench.database.row(id)).toMatchObject(thief);
  });
});

describe('a process that stood still for longer than lease and grace', () => {
  it('finds its worker taken, issues nothing more from it and takes another', async () => {
    const layout = { serviceMaxWorkId: 2 };
    const paused = await renewed({ layout });
    const other = await KeeperBench.started({ database: paused.database, layout });
    await other.keeper.close();
    const id = paused.workerId!;
    paused.pause();
    await paused.advance(121_000);
    const [first, second] = [
      await KeeperBench.started({ database: paused.database, layout, seed: 3 }),
      await KeeperBench.started({ database: paused.database, layout, seed: 4 }),
    ];
    expect([first.workerId, second.workerId].sort()).toEqual([1, 2]);
    const taker = first.workerId === id ? first : second;
    taker.issue();
    paused.resume();
    expect(paused.refusal()).toBe('LEASE_LOST');
    await paused.advance(5_000);
    expect(paused.refusal()).toBe('LEASE_LOST');
    taker.kill();
    await paused.advance(200_000);
    expect(paused.refusal()).toBeUndefined();
    expect(paused.issued.filter((each) => taker.issued.includes(each))).toEqual([]);
  });
});

describe('a database that goes back in time', () => {
  it('to an earlier write of the holder is raised again, and bars issuing meanwhile', async () => {
    const bench = await KeeperBench.started();
    const id = bench.workerId!;
    const old = bench.database.snapshot();
    await bench.advance(30_000);
    const granted = bench.database.row(id).odometers[0].ms;
    bench.database.restore(old);
    bench.store.faultFor = (call) => (call === 'write' ? { kind: 'refused' } : undefined);
    await bench.advance(10_000);
    expect(bench.refusal()).toBe('DATABASE_REGRESSION');
    bench.store.comeBack();
    await bench.advance(1_000);
    expect(bench.refusal()).toBeUndefined();
    expect(bench.database.row(id).odometers[0].ms).toBeGreaterThanOrEqual(granted);
    expect(bench.story.filter((type) => type !== 'lease-trouble')).toEqual(['lease-acquired', 'database-regression']);
  });

  it('heals again when it flips between two pasts', async () => {
    const bench = await KeeperBench.started();
    const [first, id] = [bench.database.snapshot(), bench.workerId!];
    await bench.advance(10_000);
    const second = bench.database.snapshot();
    await bench.advance(10_000);
    for (const past of [first, second, first]) {
      bench.issue();
      bench.database.restore(past);
      await bench.advance(10_000);
      expect(bench.refusal()).toBeUndefined();
      expect(bench.database.row(id).odometers[0].ms).toBeGreaterThan(bench.time.wall);
    }
    expect(bench.story.filter((type) => type === 'database-regression')).toHaveLength(3);
    expect(new Set(bench.issued).size).toBe(bench.issued.length);
  });

  it('to before the holder came is a loss', async () => {
    const bench = new KeeperBench();
    await bench.store.prepare({ min: 1, max: 3 });
    const empty = bench.database.snapshot();
    await bench.keeper.start();
    await bench.advance(30_000);
    bench.database.restore(empty);
    await bench.advance(11_000);
    expect(bench.story).toEqual(['lease-acquired', 'lease-lost', 'lease-regained']);
  });

  it('does not lower an odometer by the release of a healed row', async () => {
    const bench = await KeeperBench.started({ layout: { serviceMaxWorkId: 1 } });
    const old = bench.database.snapshot();
    await bench.advance(20_000);
    const last = bench.issue();
    bench.database.restore(old);
    await bench.keeper.close();
    expect(bench.database.row(1).token).toBe('');
    const next = await KeeperBench.started({ database: bench.database, layout: { serviceMaxWorkId: 1 } });
    expect(next.issue()).toBeGreaterThan(last);
  });
});
