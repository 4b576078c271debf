import fc from 'fast-check';
import { isFull, runs } from '../../../../test/tier.js';
import type { Lane } from '../generator/tenure.js';
import { type LayoutOptions, type ResolvedLayout, resolveLayout } from '../layout/layout-options.js';
import { KeeperBench, WorkerDatabase } from '../../../../test/support/engine/keeper-bench.js';
import type * as Odometers from './odometer.js';

/** What the conversion of odometers gets wrong; 'nothing' leaves the real one alone. */
let mockMistake: 'nothing' | 'keeps the sequence' | 'forgets the ms' = 'nothing';

jest.mock('./odometer.js', (): typeof Odometers => {
  const real = jest.requireActual<typeof Odometers>('./odometer.js');
  return {
    positionOf: (odometer, row, layout) =>
      mockMistake === 'keeps the sequence'
        ? { tick: layout.timeline.tickAt(odometer.ms), sequence: odometer.sequence }
        : real.positionOf(odometer, row, layout),
    odometersOf: (positions, layout, leastMs) =>
      real.odometersOf(positions, layout, mockMistake === 'forgets the ms' ? [0, 0] : leastMs),
  };
});

const NOW = Date.parse('2026-03-01T12:34:56.789Z');
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

function resolved(options: Partial<LayoutOptions>): ResolvedLayout {
  const rest = { startTimeStamp: '2024-01-01T05:17:31Z', workIdLength: 3, serviceMaxWorkId: 1, endBitsLength: 3 };
  return resolveLayout({ timeStampLength: 41, ...rest, ...options }, NOW);
}

/** One layout for each unit, told apart by its end bits, with so few sequences that ticks are used up. */
const LAYOUTS = {
  millisecond: resolved({ timeUnit: 'millisecond', timeStampLength: 55, endBitsValue: 0 }),
  second: resolved({ timeUnit: 'second', timeStampLength: 52, endBitsValue: 1 }),
  minute: resolved({ timeUnit: 'minute', timeStampLength: 50, workIdLength: 4, endBitsValue: 2 }),
  hour: resolved({ timeUnit: 'hour', timeStampLength: 45, workIdLength: 9, endBitsValue: 3 }),
  day: resolved({ timeUnit: 'day', timeStampLength: 40, workIdLength: 10, endBitsValue: 4, timeBackBitValue: 1 }),
};
const UNITS = Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[];

type Action =
  | { readonly kind: 'issue'; readonly count: number }
  | { readonly kind: 'step'; readonly ms: number }
  | { readonly kind: 'pass'; readonly ms: number };

/** One process after the other, all on one row. */
interface Life {
  readonly unit: keyof typeof LAYOUTS;
  /** Before it: time that passes, and what the clocks of host and database are put forward or back by. */
  readonly gapMs: number;
  readonly clockMs: number;
  readonly hostMs: number;
  readonly actions: readonly Action[];
  readonly isKilled: boolean;
}

interface Outcome {
  readonly issued: number;
  readonly starts: number;
  /** Units of the layouts that issued an ID twice. */
  readonly repeats: readonly string[];
}

async function run(lives: readonly Life[]): Promise<Outcome> {
  const database = new WorkerDatabase(NOW);
  const issued = new Map<string, bigint[]>(UNITS.map((unit) => [unit, []]));
  let starts = 0;
  for (const { unit, gapMs, clockMs, hostMs, actions, isKilled } of lives) {
    await database.advance(gapMs);
    database.time.step(clockMs);
    const bench = new KeeperBench({ database, resolved: LAYOUTS[unit], wall: database.time.wall + hostMs });
    // A row that is used up, or held by the clock of the database: nothing is issued then.
    const isStarted = await bench.keeper.start().then(
      () => true,
      () => false,
    );
    if (!isStarted) continue;
    starts++;
    for (const action of actions) await act(bench, action);
    issued.get(unit)!.push(...bench.issued);
    if (isKilled) {
      bench.kill();
      await database.advance(121_000);
    } else await bench.keeper.close();
  }
  const all = [...issued.values()].flat();
  const repeats = UNITS.filter((unit) => new Set(issued.get(unit)).size < issued.get(unit)!.length);
  if (repeats.length === 0) expect(new Set(all).size).toBe(all.length);
  return { issued: all.length, starts, repeats };
}

async function act(bench: KeeperBench, action: Action): Promise<void> {
  if (action.kind === 'step') bench.time.step(action.ms);
  else if (action.kind === 'pass') await bench.advance(action.ms);
  else {
    for (let each = 0; each < action.count; each++) if (bench.refusal() !== undefined) await bench.advance(1);
  }
}

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('issue' as const), count: fc.integer({ min: 1, max: 30 }) }),
  fc.record({
    kind: fc.constant('step' as const),
    ms: fc.constantFrom(-1, -400, -3 * SECOND, -20 * SECOND, -10 * MINUTE, -HOUR, -DAY, 900, 25 * SECOND),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 300, 3 * SECOND, 15 * SECOND, 2 * MINUTE) }),
);

/** Two or three layouts, so that they meet again soon. */
const anyLives: fc.Arbitrary<Life[]> = fc.subarray(UNITS, { minLength: 2, maxLength: 3 }).chain((units) =>
  fc.array(
    fc.record({
      unit: fc.constantFrom(...units),
      gapMs: fc.constantFrom(0, 1, 700, 5 * SECOND, 5 * SECOND, HOUR, 13 * HOUR),
      clockMs: fc.constantFrom(0, 0, 0, 0, -1, -2 * SECOND, -10 * MINUTE, -2 * HOUR, -DAY),
      hostMs: fc.integer({ min: -29_000, max: 29_000 }),
      actions: fc.array(anyAction, { minLength: 1, maxLength: 6 }),
      isKilled: fc.boolean(),
    }),
    { minLength: 3, maxLength: 8 },
  ),
);

afterEach(() => {
  mockMistake = 'nothing';
});

const RUNS = runs(120);

describe('layouts in turn on one row, told apart by their end bits', () => {
  it('never issue an ID twice, however long each lives, dies and sets its clock', async () => {
    const total = { issued: 0, starts: 0, lives: 0 };
    const property = fc.asyncProperty(anyLives, async (lives) => {
      const { issued, starts, repeats } = await run(lives);
      expect(repeats).toEqual([]);
      total.issued += issued;
      total.starts += starts;
      total.lives += lives.length;
    });
    await fc.assert(property, { seed: 5, numRuns: RUNS });
    expect(total.issued).toBeGreaterThan(RUNS * 25);
    expect(total.starts / total.lives).toBeGreaterThan(0.5);
  });

  it('issue IDs twice when the conversion keeps the sequence: the same search finds it', async () => {
    mockMistake = 'keeps the sequence';
    const property = fc.asyncProperty(anyLives, async (lives) => (await run(lives)).repeats.length === 0);
    const { failed } = await fc.check(property, { seed: 5, numRuns: 120, endOnFailure: true });
    expect(failed).toBe(true);
  });

  it.each([
    { mistake: 'nothing', repeats: [] },
    { mistake: 'forgets the ms', repeats: ['second'] },
  ] as const)(
    'repeat the IDs of $repeats when the mistake of the conversion is: $mistake',
    async ({ mistake, repeats }) => {
      mockMistake = mistake;
      const life = {
        gapMs: 0,
        clockMs: 0,
        hostMs: 0,
        isKilled: false,
        actions: [{ kind: 'issue', count: 12 }],
      } as const;
      const outcome = await run([
        { ...life, unit: 'second' },
        { ...life, unit: 'hour' },
        { ...life, unit: 'second' },
      ]);
      expect(outcome).toMatchObject({ starts: 3, repeats });
    },
  );

  const PAIRS = UNITS.flatMap((first) => UNITS.filter((unit) => unit !== first).map((second) => ({ first, second })));
  const STATES = (['one lane', 'both lanes', 'the later lane'] as const).flatMap((state) =>
    [false, true].map((isKilled) => ({ state, isKilled })),
  );
  /** What leaves the lanes of the first layout in a state. */
  const LANES: Record<(typeof STATES)[number]['state'], Action[]> = {
    'one lane': [{ kind: 'issue', count: 12 }],
    'both lanes': [
      { kind: 'issue', count: 12 },
      { kind: 'step', ms: -3 * DAY },
      { kind: 'issue', count: 12 },
    ],
    'the later lane': [
      { kind: 'issue', count: 5 },
      { kind: 'step', ms: -20 * SECOND },
      { kind: 'issue', count: 5 },
      { kind: 'pass', ms: 90 * SECOND },
      { kind: 'issue', count: 12 },
    ],
  };

  const CIRCUMSTANCES = STATES.flatMap(({ state, isKilled }) =>
    [0, -1, -5 * SECOND, -MINUTE, -HOUR].flatMap((clockMs) =>
      [0, MINUTE].map((gapMs) => ({ state, isKilled, clockMs, gapMs })),
    ),
  );

  it.each(PAIRS)('$first, $second and $first again never repeat an ID, in any state of the lanes', async (pair) => {
    // In npm test each pair meets every seventh, and the next pair the ones after those.
    const all = CIRCUMSTANCES.filter((_, index) => isFull || (index + PAIRS.indexOf(pair)) % 7 === 0);
    let served = 0;
    for (const circumstances of all) {
      const { state, isKilled, clockMs, gapMs } = circumstances;
      const rest = { gapMs, hostMs: 0, isKilled };
      const issue: Action[] = [{ kind: 'issue', count: 12 }];
      const { repeats, starts } = await run([
        { ...rest, unit: pair.first, clockMs: 0, actions: LANES[state] },
        { ...rest, unit: pair.second, clockMs, actions: [...issue, { kind: 'pass', ms: 300 }, ...issue] },
        { ...rest, unit: pair.first, clockMs, actions: LANES[state] },
        { ...rest, unit: pair.second, clockMs: 0, actions: issue },
        { ...rest, unit: pair.first, clockMs: HOUR, actions: issue },
      ]);
      expect({ ...circumstances, repeats }).toMatchObject({ repeats: [] });
      served += starts;
    }
    expect(served).toBeGreaterThan(2 * all.length);
  });
});

describe('a one-way change to a layout that shares end bits', () => {
  const old = resolved({ timeUnit: 'second', timeStampLength: 33, endBitsLength: 0 });
  const next = resolved({ timeUnit: 'millisecond', timeStampLength: 41, endBitsLength: 0 });
  const wider = resolved({ timeUnit: 'millisecond', timeStampLength: 41, endBitsLength: 0, workIdLength: 4 });

  it.each([
    { name: 'seconds to milliseconds', from: old },
    { name: 'a worker bit more', from: wider },
  ])('($name) stays above all that the other one can have issued, the clock going back', async ({ from }) => {
    for (const lane of [0, 1] as readonly Lane[]) {
      const database = new WorkerDatabase(NOW);
      const first = await KeeperBench.started({ database, resolved: { ...from, firstLane: lane } });
      for (let each = 0; each < 20; each++) first.issue();
      first.kill();
      await database.advance(120_001);
      const { odometers } = database.row(1);
      const largest = from.layout.idCeil(Math.max(odometers[0].ms, odometers[1].ms));
      const second = await KeeperBench.started({ database, resolved: next });
      const lanes = new Set<number>();
      for (let step = 0; step < 12; step++) {
        if (second.refusal() === undefined) lanes.add(next.layout.unpack(second.issued.at(-1)!).clockBack);
        second.time.step(-9 * SECOND);
        if (second.refusal() === undefined) lanes.add(next.layout.unpack(second.issued.at(-1)!).clockBack);
        await second.advance(2 * SECOND);
      }
      expect([...lanes].sort()).toEqual([0, 1]);
      for (const id of second.issued) expect(id).toBeGreaterThan(largest);
      expect(new Set(second.issued).size).toBe(second.issued.length);
    }
  });

  it('keeps its base on both lanes of rows that the other one never had, and through restarts', async () => {
    const database = await WorkerDatabase.withRows({ min: 1, max: 2 }, NOW);
    const ahead = { ms: NOW - 5 * SECOND, sequence: 7 };
    const low = { ms: 0, sequence: -1 };
    database.change(2, { layout: wider.layout.fingerprint, code: 'another', odometers: [low, ahead] });
    const largest = wider.layout.idCeil(ahead.ms);
    const issued: bigint[] = [];
    for (const behindMs of [0, 1_500, 1_500]) {
      await database.advance(2 * SECOND);
      const bench = await KeeperBench.started({ database, resolved: next, wall: database.time.wall - behindMs });
      expect(bench.workerId).toBe(1);
      for (const lane of [0, 1] as const)
        expect(bench.keeper.base[lane].tick).toBeGreaterThanOrEqual(next.layout.timeline.tickAt(ahead.ms));
      for (let step = 0; step < 5; step++) {
        bench.refusal();
        bench.time.step(-700);
        await bench.advance(20);
      }
      issued.push(...bench.issued);
      await bench.keeper.close();
    }
    expect(issued.length).toBeGreaterThan(5);
    for (const id of issued) expect(id).toBeGreaterThan(largest);
    expect(new Set(issued).size).toBe(issued.length);
  });

  it('is refused while the clock is back before what the other one issued', async () => {
    const database = new WorkerDatabase(NOW);
    const first = await KeeperBench.started({ database, resolved: wider });
    first.issue();
    await first.keeper.close();
    database.time.step(-2 * SECOND);
    const options = { database, resolved: next };
    await expect(KeeperBench.started(options)).rejects.toMatchObject({ errorCode: 'LAYOUT_CONFLICT' });
    await database.advance(3 * SECOND);
    const second = await KeeperBench.started(options);
    expect(second.issue()).toBeGreaterThan(wider.layout.idCeil(NOW));
  });
});
