import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { SnowflakeGenerator } from '../generator/snowflake-generator.js';
import { StaticTenure } from '../generator/tenure.js';
import { resolvedFor } from '../layout/layout-options.js';
import { RaindropError } from '../raindrop-error.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { DEFAULT_EXPIRE_SECONDS, foldId, MAX_EXPIRE_SECONDS, SHORT_ID_CYCLE_MS, shortIdLayout } from './short-id.js';
import { ShortIdGenerator } from './short-id-generator.js';
import { RepeatLog } from '../../../../test/support/engine/repeat-log.js';

/** A cycle is a multiple of it: clocks that move by it meet the numbers of the last cycle again. */
const STEP_MS = 512;
const STEPS = Math.ceil((2.1 * SHORT_ID_CYCLE_MS) / STEP_MS);
/** Below the skew that a lease permits. */
const MAX_OFFSET_MS = 50 * STEP_MS;

/** Calls until no number is left, `most` times at most. */
function take(log: RepeatLog, next: () => number, most: number, nowMs: number): void {
  try {
    for (let count = 0; count < most; count++) log.note(next(), nowMs);
  } catch (error) {
    if (!(error instanceof RaindropError)) throw error;
  }
}

interface Happening {
  readonly step: number;
  /**
   * `clock` sets it to another offset from the database's, the others start a new process on a host with that offset.
   */
  readonly what: 'clock' | 'close' | 'kill';
  readonly offsetSteps: number;
}

const USAGE = {
  timeBackBitValue: 0,
  minLifetimeDays: 0,
  expectedNodes: undefined,
  expectedIdsPerSecond: undefined,
} as const;

/** A service with two workers, one process at a time, over two cycles. */
async function serve(happenings: readonly Happening[]): Promise<RepeatLog> {
  const database = new WorkerDatabase();
  const resolved = resolvedFor(
    shortIdLayout,
    { ...USAGE, serviceMinWorkId: 0, serviceMaxWorkId: 1 },
    database.time.wall,
  );
  const log = new RepeatLog();
  const start = async (offsetMs: number) => {
    const bench = new KeeperBench({ database, resolved, wall: database.time.wall + offsetMs });
    // With both rows taken it takes until a lease has ended.
    await bench.keeper.start().catch(() => bench.kill());
    return { bench, ids: new ShortIdGenerator(bench.generator, {}, bench.time) };
  };
  let { bench, ids } = await start(0);
  for (let step = 0; step < STEPS; step++) {
    for (const { what, offsetSteps } of happenings.filter((each) => each.step === step)) {
      const offsetMs = Math.max(-MAX_OFFSET_MS, Math.min(offsetSteps * STEP_MS, MAX_OFFSET_MS));
      if (what === 'clock') {
        bench.time.setWall(database.time.wall + offsetMs);
        continue;
      }
      if (what === 'close') await bench.keeper.close();
      else bench.kill();
      ({ bench, ids } = await start(offsetMs));
    }
    take(log, () => ids.next(), 1 + (step % 3) * 20, bench.time.monotonicMs);
    await database.advance(STEP_MS);
    if (bench.time.isStopped && step % 20 === 0) ({ bench, ids } = await start(0));
  }
  bench.kill();
  return log;
}

const happening = fc.record({
  step: fc.nat(STEPS - 1),
  what: fc.constantFrom('clock', 'close', 'kill'),
  offsetSteps: fc.integer({ min: -50, max: 50 }),
}) as fc.Arbitrary<Happening>;

const RUNS = runs(10);

describe('no short ID comes again', () => {
  it('within 2,097 s when the clock is right, and all come again after that', async () => {
    const log = await serve([]);
    expect(log.issued).toBeGreaterThan(30_000);
    expect(log.shortestMs).toBe(SHORT_ID_CYCLE_MS);
    expect(log.shortestMs).toBeGreaterThanOrEqual(MAX_EXPIRE_SECONDS * 1_000);
  });

  it('within 2,037 s whatever restarts, crashes and clocks inside the permitted skew do', async () => {
    let [cameAgain, soonest] = [0, Number.POSITIVE_INFINITY];
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 2, maxLength: 40, size: 'max' }), async (happenings) => {
        const log = await serve(happenings);
        expect(log.issued).toBeGreaterThan(1_000);
        expect(log.shortestMs).toBeGreaterThanOrEqual(DEFAULT_EXPIRE_SECONDS * 1_000);
        if (log.shortestMs < Number.POSITIVE_INFINITY) cameAgain++;
        soonest = Math.min(soonest, log.shortestMs);
      }),
      { seed: 6, numRuns: RUNS },
    );
    // The test sees what comes again, and that clocks take from the time until then.
    expect(cameAgain).toBeGreaterThan(RUNS / 2);
    expect(soonest).toBeLessThan(MAX_EXPIRE_SECONDS * 1_000);
  });

  const LEAP_MS = 600 * STEP_MS;

  /** One process with a clock that leaps forward five minutes after a cycle's half. */
  function leap(next: (ids: ShortIdGenerator, source: SnowflakeGenerator) => number): RepeatLog {
    const time = new VirtualTime('2026-03-01T12:00:00Z');
    const source = new SnowflakeGenerator({ layout: shortIdLayout, tenure: new StaticTenure(1) }, time);
    const ids = new ShortIdGenerator(source, {}, time);
    const log = new RepeatLog();
    for (let step = 0; step < STEPS; step++) {
      take(log, () => next(ids, source), 3, time.monotonicMs);
      time.freeze(STEP_MS);
      if (step === Math.floor(STEPS / 4)) time.step(LEAP_MS);
    }
    return log;
  }

  it('before it expires when the clock leaps forward', () => {
    const log = leap((ids) => ids.next());
    expect(log.issued).toBeGreaterThan(5_000);
    expect(log.shortestMs).toBeGreaterThanOrEqual(DEFAULT_EXPIRE_SECONDS * 1_000);
  });

  it('but does when no check looks at leaps: the test can fail', () => {
    expect(leap((_, source) => foldId(source.nextId())).shortestMs).toBe(SHORT_ID_CYCLE_MS - LEAP_MS);
  });

  it('after a restart with the clock set back, which is refused; without an odometer it does', async () => {
    const database = new WorkerDatabase();
    const resolved = resolvedFor(
      shortIdLayout,
      { ...USAGE, serviceMinWorkId: 3, serviceMaxWorkId: 3 },
      database.time.wall,
    );
    const log = new RepeatLog();
    const unleased = new RepeatLog();
    for (const offsetMs of [0, -10 * STEP_MS]) {
      const bench = await KeeperBench.started({ database, resolved, wall: database.time.wall + offsetMs }).catch(
        (error: Error) => error,
      );
      const time = database.time.another(database.time.wall + offsetMs);
      const free = new SnowflakeGenerator({ layout: shortIdLayout, tenure: new StaticTenure(3) }, time);
      const byHand = new ShortIdGenerator(free, {}, time);
      for (let step = 0; step < 5; step++) {
        take(unleased, () => byHand.next(), 3, time.monotonicMs);
        if (bench instanceof KeeperBench) {
          const ids = new ShortIdGenerator(bench.generator, {}, bench.time);
          take(log, () => ids.next(), 3, time.monotonicMs);
        }
        await database.advance(STEP_MS);
      }
      if (bench instanceof KeeperBench) await bench.keeper.close();
      await database.advance(5 * STEP_MS);
    }
    expect(log.issued).toBeGreaterThanOrEqual(15);
    expect(log.shortestMs).toBe(Number.POSITIVE_INFINITY);
    expect(unleased.shortestMs).toBeLessThan(60_000);
  });
});
