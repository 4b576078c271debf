import { runs } from '../../../../test/tier.js';
import { createLayout } from '../layout/layout-options.js';
import { Layout } from '../layout/layout.js';
import { type Fault, FaultStore } from '../../../../test/support/engine/fault-store.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import { SeededRandom } from '../../../../test/support/engine/seeded-random.js';
import { findLayout, withFoundLayout } from './layout-choice.js';
import type { LayoutChoice } from './layout-choice.js';
import { resolveLeaseOptions } from './lease-options.js';
import { StoreSession } from './store-session.js';

const NOW = Date.parse('2026-11-21T20:00:00Z');
const PROCESSES = 4;

const bits = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 };
/** Of this release, and of a later one: worker 2 of the one has the IDs of worker 1 of the other. */
const OVERLAPPING = [createLayout(bits, NOW), createLayout({ ...bits, workIdLength: 9 }, NOW)] as const;
const DISJOINT = [OVERLAPPING[0], createLayout({ ...bits, endBitsValue: 1 }, NOW)] as const;

/** How processes start that have different layouts for an empty table. */
interface Way {
  readonly firsts: readonly [Layout, Layout];
  /** False: each takes its own, whatever the table says. */
  readonly isChosen?: boolean;
  /** False: a process that chose for an empty table does not look which others did. */
  readonly isConfirmed?: boolean;
  /** Calls that fail, besides those that take their time. */
  readonly failing?: number;
}

interface Outcome {
  readonly layouts: readonly string[];
  readonly repeated: number;
  readonly refusals: readonly string[];
  readonly started: number;
}

/** A fault of nearly every call: it takes its time, so that the processes come between each other's steps. */
function trouble(random: SeededRandom, failing: number): Fault {
  if (random.chance(failing)) return { kind: random.pick(['refused', 'answer-lost'] as const) };
  return { kind: 'slow', thereMs: random.below(40), backMs: random.below(40) };
}

async function start(seed: number, way: Way): Promise<Outcome> {
  const { firsts, isChosen = true, isConfirmed = true, failing = 0 } = way;
  const random = new SeededRandom(seed);
  const database = new WorkerDatabase(NOW);
  const options = resolveLeaseOptions({});
  const process = async (index: number): Promise<KeeperBench> => {
    const first = firsts[index % 2]!;
    const time = database.time.another(NOW, 1_000 * seed + index);
    const store = new FaultStore(database.table, time, database.time);
    store.faultFor = () => trouble(random, failing);
    const session = new StoreSession(store, time.timers, options.opTimeoutMs);
    const find = (): Promise<LayoutChoice> =>
      isChosen
        ? findLayout({ session, options, ports: time, first })
        : Promise.resolve({ layout: first, isFirst: false });
    const open = async ({ layout, isFirst }: LayoutChoice): Promise<KeeperBench> => {
      const workers = { min: 1, max: 3 };
      const resolved = { layout, workers, firstLane: 0, minLifetimeDays: 0, warnings: [] } as const;
      const bench = new KeeperBench({
        database,
        resolved,
        isFirstLayout: isConfirmed && isFirst,
        seed: random.below(2 ** 31),
      });
      bench.store.faultFor = () => trouble(random, failing);
      await bench.keeper.start();
      return bench;
    };
    return withFoundLayout(find, open, time);
  };
  const starting = Promise.allSettled(Array.from({ length: PROCESSES }, (_, index) => process(index)));
  await database.advance(120_000);
  const outcomes = await starting;
  const benches = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const ids = benches.flatMap((bench) => bench.generator.nextIds(50));
  for (const bench of benches) bench.kill();
  return {
    layouts: [...new Set(benches.map((bench) => bench.resolved.layout.fingerprint))],
    repeated: ids.length - new Set(ids).size,
    refusals: outcomes.flatMap((each) => (each.status === 'rejected' ? [codeOf(each.reason)] : [])),
    started: benches.length,
  };
}

function codeOf(error: unknown): string {
  return (error as { errorCode?: string }).errorCode ?? String(error);
}

const SEEDS = Array.from({ length: runs(150) }, (_, index) => index + 1);

async function all(way: Way): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const seed of SEEDS) outcomes.push(await start(seed, way));
  return outcomes;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe.each([
  { name: 'overlap', firsts: OVERLAPPING },
  { name: 'are disjoint', firsts: DISJOINT },
])('processes of two releases, whose layouts for an empty table $name,', ({ firsts }) => {
  it('start together and end with one layout and no repeated ID', async () => {
    const outcomes = await all({ firsts });
    const chosen = new Set(outcomes.flatMap(({ layouts }) => layouts));
    expect(chosen.size).toBe(2);
    for (const { layouts, repeated, refusals } of outcomes) {
      expect({ layouts: layouts.length, repeated }).toEqual({ layouts: 1, repeated: 0 });
      // There are three rows for four processes.
      expect(refusals).toEqual(['NO_FREE_WORKER']);
    }
  });

  it('do so too while calls fail, or are refused', async () => {
    const outcomes = await all({ firsts, failing: 0.15 });
    for (const { layouts, repeated } of outcomes) {
      expect(layouts.length).toBeLessThanOrEqual(1);
      expect(repeated).toBe(0);
    }
    const started = outcomes.reduce((sum, each) => sum + each.started, 0);
    expect(started).toBeGreaterThan(outcomes.length);
    const refusals = new Set(outcomes.flatMap((each) => each.refusals));
    refusals.forEach((code) =>
      expect(code).toMatch(/^(NO_FREE_WORKER|STORE_UNAVAILABLE|LAYOUT_CONFLICT|UNCLEAR_LAYOUT)$/),
    );
  });
});

describe('the controls', () => {
  it('without the choice from the table, the safeguard of layouts refuses one of the two', async () => {
    for (const { repeated, refusals, layouts } of await all({ firsts: OVERLAPPING, isChosen: false })) {
      expect(layouts.length).toBeLessThanOrEqual(1);
      expect(repeated).toBe(0);
      expect(refusals).toContain('LAYOUT_CONFLICT');
    }
  });

  it('without that safeguard as well, IDs repeat', async () => {
    jest.spyOn(Layout.prototype, 'disjointFrom').mockReturnValue(true);
    const outcomes = await all({ firsts: OVERLAPPING, isChosen: false });
    expect(outcomes.some(({ repeated }) => repeated > 0)).toBe(true);
  });

  it('without a second look at who else chose, two layouts live on one table', async () => {
    const outcomes = await all({ firsts: DISJOINT, isConfirmed: false });
    expect(outcomes.some(({ layouts }) => layouts.length === 2)).toBe(true);
  });
});
