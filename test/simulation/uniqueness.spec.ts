import { MemoryWorkerStore } from '../../libs/core/src/lease/memory-worker-store.js';
import type { WorkerWrite } from '../../libs/core/src/lease/worker-store.js';
import { LeaseHolding } from '../../libs/core/src/lease/lease-holding.js';
import { AFTER_ALL } from '../../libs/core/src/generator/position.js';
import { LeaseKeeper } from '../../libs/core/src/lease/lease-keeper.js';
import { FaultStore } from '../../libs/core/src/testing/fault-store.js';
import { Schedule, type MakeStore } from './schedule.js';

const SCHEDULES = Number(process.env['RAINDROP_SCHEDULES'] ?? 300);

async function firstRepeat(makeStore?: MakeStore): Promise<number | undefined> {
  for (let seed = 1; seed <= 300; seed++) {
    if ((await new Schedule(seed, makeStore).run()).repeated.length > 0) return seed;
  }
  return undefined;
}

/** A store whose database writes something else than it is told. */
function faulty(change: (write: WorkerWrite, store: MemoryWorkerStore) => Promise<WorkerWrite>): MakeStore {
  return ({ table, time: databaseTime }, time) => {
    const store = new FaultStore(table, time, databaseTime);
    const write = (store as unknown as { memory: MemoryWorkerStore }).memory;
    const honest = write.write.bind(write);
    write.write = async (given) => honest(await change(given, write));
    return store;
  };
}

jest.setTimeout(600_000);

describe('Three processes on two rows, whatever happens to them', () => {
  afterEach(() => jest.restoreAllMocks());

  it(`never issue an ID twice, in ${SCHEDULES} schedules`, async () => {
    const total: Record<string, number> = {};
    let issued = 0;
    for (let seed = 1; seed <= SCHEDULES; seed++) {
      const outcome = await new Schedule(seed).run();
      if (outcome.repeated.length > 0) throw new Error(`seed ${seed}: ${outcome.repeated.join(', ')}`);
      issued += outcome.issued;
      for (const [what, times] of Object.entries(outcome.fired)) total[what] = (total[what] ?? 0) + times;
    }
    expect(issued).toBeGreaterThan(SCHEDULES * 100);
    for (const what of [
      'kill',
      'pause',
      'release',
      'outage',
      'clock step',
      'write fault',
      'LEASE_LOST',
      'CLOCK_MOVED_BACK',
    ]) {
      expect([what, total[what]]).toEqual([what, expect.any(Number)]);
      expect(total[what]).toBeGreaterThan(SCHEDULES / 4);
    }
  });

  it('replay: a seed does the same twice', async () => {
    const [first, second] = [await new Schedule(42).run(), await new Schedule(42).run()];
    expect(second).toEqual(first);
  });

  it.each([
    {
      rule: 'the compare-and-swap looks at version and token',
      makeStore: faulty(async (write, store) => {
        const { row } = await store.readRow(write.id);
        return { ...write, expected: { version: row!.version, token: row!.token } };
      }),
    },
    {
      rule: 'the odometer is written with the grant',
      makeStore: faulty(async (write, store) => {
        const { row } = await store.readRow(write.id);
        return { ...write, odometers: row!.odometers };
      }),
    },
  ])('repeat IDs unless $rule: the test can fail', async ({ makeStore }) => {
    expect(await firstRepeat(makeStore)).toBeDefined();
  });

  it('repeat IDs unless nothing is issued past the limit: the test can fail', async () => {
    jest.spyOn(LeaseKeeper.prototype, 'limit', 'get').mockReturnValue([AFTER_ALL, AFTER_ALL]);
    expect(await firstRepeat()).toBeDefined();
  });

  it('repeat IDs unless a release is final: the test can fail', async () => {
    jest.spyOn(LeaseHolding.prototype, 'close').mockImplementation(() => undefined);
    jest.spyOn(LeaseHolding.prototype, 'release').mockImplementation(async function (this: LeaseHolding) {
      await this.lease?.release();
    });
    expect(await firstRepeat()).toBeDefined();
  });
});
