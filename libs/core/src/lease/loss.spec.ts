import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';

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
