import { KeeperBench, type KeeperBenchOptions, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';

/** Two layouts with ticks at the same places in the ID: their IDs differ only where they are of different ticks. */
const OLD: KeeperBenchOptions = { layout: { workIdLength: 4, serviceMaxWorkId: 1 } };
const NEW: KeeperBenchOptions = { layout: { workIdLength: 3, serviceMaxWorkId: 3 } };

/** The clock of a host that is behind, as far as a start allows. */
const behind = (database: WorkerDatabase): number => database.time.wall - 25_000;

describe('a change of layout on hosts whose clocks are behind', () => {
  it('starts after the last ID of the old one, on either lane, in the first process and in the next', async () => {
    const database = new WorkerDatabase();
    const old = await KeeperBench.started({ ...OLD, database });
    const last = old.issue();
    const lastMs = database.time.wall;
    await old.keeper.close();
    await database.advance(2);

    const fleet: KeeperBench[] = [];
    for (let seed = 1; seed <= 3; seed++) {
      const next = await KeeperBench.started({ ...NEW, database, seed, wall: behind(database) }).catch(() => undefined);
      if (next !== undefined) fleet.push(next);
    }
    // Every lane of every row is past the present of such a host.
    expect(fleet).toEqual([]);

    await database.advance(25_001);
    for (let seed = 1; seed <= 3; seed++) {
      const next = await KeeperBench.started({ ...NEW, database, seed, wall: behind(database) });
      fleet.push(next);
      const { odometers } = database.row(next.workerId!);
      expect(Math.min(odometers[0].ms, odometers[1].ms)).toBeGreaterThanOrEqual(lastMs);
      expect(next.issue()).toBeGreaterThan(last);
      await database.advance(10);
    }
    for (const each of fleet) {
      each.time.step(-20_000);
      for (let passed = 0; passed < 5_000; passed += 100) {
        await database.advance(100);
        each.refusal();
      }
      expect(each.issued.every((id) => id > last)).toBe(true);
    }
  });

  it('respects the old one that comes and goes between the two looks', async () => {
    const database = new WorkerDatabase();
    const next = new KeeperBench({ ...NEW, database, wall: behind(database), lease: { waitForWorkerMs: 60_000 } });
    next.store.next('write', { kind: 'slow', thereMs: 500, backMs: 0 });
    const starting = next.keeper.start();
    await database.advance(100);
    const old = await KeeperBench.started({
      ...OLD,
      database,
      layout: { ...OLD.layout, serviceMinWorkId: 8, serviceMaxWorkId: 8 },
    });
    const last = old.issue();
    await old.keeper.close();
    await database.advance(1_000);
    await starting;
    for (let passed = 0; passed < 40_000; passed += 100) {
      next.refusal();
      await database.advance(100);
    }
    expect(next.issued.length).toBeGreaterThan(50);
    expect(next.issued.every((id) => id > last)).toBe(true);
  });
});

describe('a row that goes back because the start failed', () => {
  it('stays unclean: the next holder of an hour row leaves that hour alone', async () => {
    const database = new WorkerDatabase();
    const options: KeeperBenchOptions = {
      database,
      layout: { timeUnit: 'hour', timeStampLength: 45, serviceMaxWorkId: 1 },
      lease: { commitLossWindowMs: 1_000 },
    };
    const starting = (bench: KeeperBench): Promise<unknown> =>
      Promise.all([bench.keeper.start().catch(() => undefined), database.advance(2_000)]);
    const gone = new KeeperBench(options);
    await starting(gone);
    gone.issue();
    gone.kill();
    await database.advance(60_000 + 151_001);
    const failing = new KeeperBench(options);
    failing.store.next('readAgain', { kind: 'refused' });
    const failed = starting(failing);
    await database.advance(50);
    failing.kill();
    await Promise.race([failed, database.advance(2_000)]);
    expect(database.row(1).token).toBe('');
    await expect(new KeeperBench(options).keeper.start()).rejects.toMatchObject({ census: { ahead: 1 } });
    await database.advance(3_600_000);
    const next = new KeeperBench(options);
    await starting(next);
    expect(next.next()).toMatch(/:0:0$/);
  });
});
