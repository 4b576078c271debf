import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { ClockBeforeEpochError } from '../layout/layout-errors.js';
import { GeneratorBench, tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { settle, VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { Issuer, PositionAllocator } from './position-allocator.js';
import {
  BEFORE_ALL,
  comparePositions,
  type Lane,
  maxPosition,
  otherLane,
  type PerLane,
  type Position,
  StaticTenure,
} from './tenure.js';
import { Sequencer } from './tick-cursor.js';
import { SnowflakeGenerator } from './snowflake-generator.js';

const CODES = [undefined, 'a', 'b', 'c', 'd'] as const;

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('id', 'string', 'number', 'bound'), code: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('ids', 'fill', 'boundIds'),
      code: fc.nat(4),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('idAsync', 'idsAsync'),
      code: fc.nat(4),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
  // In ticks: a stall is a run of calls without one of these, a freeze is time without timers.
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('advance', 'freeze'), ticks: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('step'), ticks: fc.integer({ min: -12, max: 12 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('freeze'), ticks: fc.constant(4_000) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer'), ticks: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('burn', 'flipping', 'refuse', 'reacquire', 'takeOver') }) },
);

const setting = fc.record({
  unitMs: fc.constantFrom(1, 1_000, 60_000),
  sequenceBits: fc.integer({ min: 1, max: 3 }),
  clockBack: fc.boolean(),
  reserved: fc.boolean(),
  onExhausted: fc.constantFrom('borrow', 'wait', 'throw'),
  onClockBack: fc.constantFrom('wait', 'throw'),
  sequenceStart: fc.constantFrom('zero', 'continue', 'random'),
  maxHoldMs: fc.constantFrom(0, 3, 3_000, 60_000),
  maxAheadMs: fc.constantFrom(0, 2, 5, 3_000),
  maxCodes: fc.integer({ min: 1, max: 4 }),
  lane: fc.constantFrom<Lane>(0, 1),
});

interface Step {
  readonly kind: string;
  readonly code?: number;
  readonly count?: number;
  readonly ticks?: number;
}

type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never;

/** A generator, a tenure that behaves as a worker's lease may, and the record of everything issued. */
class Campaign {
  readonly bench: GeneratorBench;
  violation: string | undefined;
  issued = 0;
  private readonly seen = new Set<string>();
  private readonly bound;
  private readonly pending: Promise<void>[] = [];

  constructor(private readonly setting: Setting) {
    const { unitMs, sequenceBits, clockBack, reserved, lane, ...options } = setting;
    const coarse = unitMs >= 60_000;
    this.bench = new GeneratorBench({
      unitMs,
      sequenceBits,
      clockBack,
      wall: 100_000 * unitMs,
      options: {
        ...options,
        onExhausted: coarse && options.onExhausted === 'borrow' ? 'throw' : options.onExhausted,
        sequenceStart: coarse ? 'zero' : options.sequenceStart,
      },
    });
    this.bound = CODES.slice(1).map((code) => this.bench.generator.forCode(code!));
    const { tenure } = this.bench;
    tenure.lane = lane;
    if (!reserved) return;
    const end: Position = { tick: 99_990, sequence: 0 };
    tenure.change({ base: [end, end], limit: [end, end], renewThreshold: [end, end] });
    this.extend(lane, 4);
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const each of steps) {
      await this.take(each);
      await settle();
      if (this.violation !== undefined) break;
    }
    // Calls that still wait get what can be had.
    this.bench.tenure.change({ refusal: undefined });
    for (let turn = 0; turn < 12; turn++) {
      this.answer(100);
      await this.bench.time.advance(this.setting.unitMs);
    }
    await this.bench.time.advance(11_000);
    await Promise.all(this.pending);
  }

  private take(each: Step): void | Promise<void> {
    const { generator, time, tenure } = this.bench;
    const { unitMs } = this.setting;
    const code = CODES[each.code ?? 0];
    const bound = this.bound[(each.code ?? 0) % this.bound.length]!;
    const { count = 1, ticks = 0 } = each;
    const ms = ticks * unitMs;
    switch (each.kind) {
      case 'id':
        return this.sync(code, () => [generator.nextId(code)]);
      case 'string':
        return this.sync(code, () => [BigInt(generator.nextString(code))]);
      case 'number':
        return this.sync(code, () => [BigInt(generator.nextNumber(code))]);
      case 'bound':
        return this.sync(bound.code, () => [bound.nextId()]);
      case 'ids':
        return this.sync(code, () => generator.nextIds(count, code));
      case 'fill':
        return this.sync(code, () => [...generator.fill(new BigInt64Array(count), code)]);
      case 'boundIds':
        return this.sync(bound.code, () => bound.nextIds(count));
      case 'idAsync':
        return this.async(code, async () => [await generator.nextIdAsync(code)]);
      case 'idsAsync':
        return this.async(code, () => generator.nextIdsAsync(count, code));
      case 'advance':
        return time.advance(ms);
      case 'freeze':
        return time.freeze(ms);
      case 'step':
        return time.step(ms);
      case 'refuse':
        return tenure.change({ refusal: tenure.refusal === undefined ? new ClockBeforeEpochError(1, 2) : undefined });
      case 'flipping':
        return tenure.change({ flipping: !tenure.flipping });
      case 'answer':
        return this.answer(ticks);
      case 'burn':
        return this.burn(tenure.number, tenure.workerId);
      case 'reacquire':
        return this.burn(tenure.number + 1, tenure.workerId);
      case 'takeOver':
        return this.burn(tenure.number + 1, (tenure.workerId + 1) % 8);
    }
  }

  /** Does what the generator asked for. */
  private answer(ticks: number): void {
    const { tenure } = this.bench;
    if (!this.setting.reserved) return;
    for (const request of new Set(tenure.requests.splice(0))) {
      this.extend(request === 'extension' ? tenure.lane : request === 'flip 0' ? 0 : 1, ticks);
    }
  }

  /** Grants more of a lane, which becomes the current one. */
  private extend(lane: Lane, ticks: number): void {
    const { bench } = this;
    const tick = bench.layout.timeline.tickAt(bench.time.wall) + ticks;
    const target = maxPosition({ tick, sequence: (tick * 7) % bench.layout.idsPerTick }, bench.tenure.limit[lane]);
    const limit = replaced(bench.tenure.limit, lane, target);
    const renewThreshold = replaced(bench.tenure.renewThreshold, lane, { tick: target.tick - 1, sequence: 0 });
    bench.tenure.change({ lane, limit, renewThreshold, flipping: false });
  }

  /** Gives up everything granted so far: in this tenure, or by starting another. */
  private burn(number: number, workerId: number): void {
    if (!this.setting.reserved) return;
    const { tenure } = this.bench;
    const burnt = maxPosition(tenure.limit[0], tenure.base[0]);
    const burntOther = maxPosition(tenure.limit[1], tenure.base[1]);
    tenure.change({ number, workerId, base: [burnt, burntOther] });
    this.extend(this.setting.clockBack ? otherLane(tenure.lane) : tenure.lane, 3);
  }

  private sync(code: string | undefined, call: () => bigint[]): void {
    try {
      this.record(code, call());
    } catch (error) {
      this.expected(error);
    }
  }

  private async(code: string | undefined, call: () => Promise<bigint[]>): void {
    this.pending.push(
      call().then(
        (ids) => this.note(code, ids),
        (error: unknown) => this.expected(error),
      ),
    );
  }

  private expected(error: unknown): void {
    const known = (error as { errorCode?: string }).errorCode;
    if (known === undefined || known === 'INVALID_PART') this.violation ??= `unexpected: ${String(error)}`;
  }

  /** Each ID must lie in what is granted now. An async call's may come from a grant that has changed since. */
  private record(code: string | undefined, ids: readonly bigint[]): void {
    this.note(code, ids);
    const { layout, tenure } = this.bench;
    for (const id of ids) {
      const { tick, sequence, clockBack, workerId } = layout.unpack(id);
      const lane: Lane = layout.hasClockBack ? (clockBack === 1 ? 1 : 0) : tenure.lane;
      const position = { tick, sequence };
      const inside =
        comparePositions(position, tenure.base[lane]) > 0 && comparePositions(position, tenure.limit[lane]) <= 0;
      if (!inside || workerId !== tenure.workerId) this.violation ??= `not granted: ${this.bench.at(id)}`;
    }
  }

  private note(code: string | undefined, ids: readonly bigint[]): void {
    for (const id of ids) {
      this.issued++;
      const key = `${code ?? ''} ${id}`;
      if (this.seen.has(key)) this.violation ??= `repeated: ${key} ${this.bench.at(id)}`;
      this.seen.add(key);
    }
  }
}

function replaced<T>(pair: PerLane<T>, lane: Lane, value: T): PerLane<T> {
  return lane === 0 ? [value, pair[1]] : [pair[0], value];
}

const RUNS = runs(500);

/** Within so many runs every broken rule must show. */
const CAUGHT_WITHIN = 500;

let issued = 0;

const property = fc.asyncProperty(
  setting,
  fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }),
  async (given, steps) => {
    const campaign = new Campaign(given);
    await campaign.run(steps);
    const { counters } = campaign.bench.generator;
    issued += campaign.issued;
    if (campaign.violation !== undefined) throw new TypeError(campaign.violation);
    // Async batches that failed midway have burnt some.
    if (counters.issued < campaign.issued) throw new TypeError(`counted ${counters.issued} of ${campaign.issued}`);
  },
);

describe('whatever clock, calls, codes, policies and grants', () => {
  afterEach(() => jest.restoreAllMocks());

  it('no ID comes twice under a code, and none that was not granted', async () => {
    issued = 0;
    await fc.assert(property, { seed: 20_261, numRuns: RUNS });
    expect(issued).toBeGreaterThan(RUNS * 12);
  });

  it.each<{ broken: string; sabotage: () => void }>([
    {
      broken: 'a flip forgets the mark that it leaves',
      sabotage: () => {
        const flip = Sequencer.prototype.flip;
        jest.spyOn(Sequencer.prototype, 'flip').mockImplementation(function (this: Sequencer, tick) {
          flip.call(this, tick);
          this.resting = BEFORE_ALL;
        });
      },
    },
    {
      broken: 'burnt positions are not skipped',
      sabotage: () => jest.spyOn(Sequencer.prototype, 'raise').mockImplementation(() => undefined),
    },
    {
      broken: 'a change of the tenure does not end the window',
      sabotage: () => jest.spyOn(Issuer.prototype, 'invalidate').mockImplementation(() => undefined),
    },
    {
      broken: 'the base of a new tenure is forgotten',
      sabotage: () => {
        const beginTenure = Sequencer.prototype.beginTenure;
        jest.spyOn(Sequencer.prototype, 'beginTenure').mockImplementation(function (
          this: Sequencer,
          tenure,
          lane,
          _,
          tick,
        ) {
          beginTenure.call(this, tenure, lane, [BEFORE_ALL, BEFORE_ALL], tick);
        });
      },
    },
    {
      broken: 'a lane follows the clock back',
      sabotage: () => {
        const allocate = PositionAllocator.prototype.allocate;
        jest.spyOn(PositionAllocator.prototype, 'allocate').mockImplementation(function (this: PositionAllocator, s) {
          s.tick = Math.min(s.tick, this['clockWindow'].tick);
          return allocate.call(this, s);
        });
      },
    },
  ])('IDs would come twice, or without a grant, if $broken: the test can fail', async ({ sabotage }) => {
    sabotage();
    const outcome = await fc.check(property, { seed: 20_261, numRuns: CAUGHT_WITHIN, endOnFailure: true });
    expect(outcome.failed).toBe(true);
    expect(String(outcome.errorInstance)).toMatch(/repeated|not granted/);
  });
});

/** How far the workers' clocks differ at most. */
const SKEW_MS = 40;

const AHEAD_MS = 5;

const call = fc.record({
  worker: fc.nat(2),
  count: fc.integer({ min: 1, max: 5 }),
  /** Time that passes afterwards, for all processes. */
  ms: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(60) }),
});

interface Issued {
  readonly atMs: number;
  readonly worker: number;
  readonly id: bigint;
}

/** Three workers on one table, each with a clock of its own. */
function issue(
  unitMs: number,
  skews: readonly number[],
  calls: readonly { worker: number; count: number; ms: number }[],
) {
  const layout = tinyLayout({ unitMs, sequenceBits: 3 });
  const times = skews.map((skew) => new VirtualTime(1_000_000 + skew));
  const workers = times.map(
    (time, worker) =>
      new SnowflakeGenerator({ layout, tenure: new StaticTenure(worker + 1), options: { maxAheadMs: AHEAD_MS } }, time),
  );
  const issued: Issued[] = [];
  for (const { worker, count, ms } of calls) {
    for (let n = 0; n < count; n++) {
      try {
        issued.push({ atMs: times[worker]!.monotonicMs, worker, id: workers[worker]!.nextId() });
      } catch {
        // Used up, for now.
      }
    }
    for (const time of times) time.freeze(ms);
  }
  return { layout, issued };
}

describe('three workers', () => {
  it.each([1, 1_000])(
    'issue different IDs, in the order of time but for the difference of their clocks (%i ms a tick)',
    (unitMs) => {
      const skew = fc.integer({ min: 0, max: SKEW_MS });
      let total = 0;
      fc.assert(
        fc.property(
          fc.tuple(skew, skew, skew),
          fc.array(call, { minLength: 2, maxLength: 60, size: 'max' }),
          (skews, calls) => {
            const { layout, issued } = issue(unitMs, skews, calls);
            total += issued.length;
            expect(new Set(issued.map(({ id }) => id)).size).toBe(issued.length);
            for (const { worker, id } of issued)
              expect(layout.unpack(id)).toMatchObject({ workerId: worker + 1, clockBack: 0 });
            for (const worker of [0, 1, 2]) {
              const own = issued.filter((each) => each.worker === worker).map(({ id }) => id);
              expect(own.every((id, index) => index === 0 || id > own[index - 1]!)).toBe(true);
            }
            // k-sorted: the greatest ID issued so long before that no difference of clocks accounts for it is smaller.
            const slack = SKEW_MS + Math.max(AHEAD_MS, unitMs) + unitMs;
            let [earlier, greatest] = [0, -1n];
            for (const { atMs, id } of issued) {
              for (; issued[earlier]!.atMs < atMs - slack; earlier++) {
                if (issued[earlier]!.id > greatest) greatest = issued[earlier]!.id;
              }
              expect(id > greatest).toBe(true);
            }
          },
        ),
        { seed: 3, numRuns: runs(300) },
      );
      expect(total).toBeGreaterThan(runs(10_000));
    },
  );

  it('with one worker id issue the same IDs: the test can fail', () => {
    const layout = tinyLayout();
    const [one, two] = [1, 1].map(
      (worker) => new SnowflakeGenerator({ layout, tenure: new StaticTenure(worker) }, new VirtualTime(1_000_000)),
    );
    expect(one!.nextId()).toBe(two!.nextId());
  });
});
