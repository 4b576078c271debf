import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { tinyLayout } from '../../../../test/support/engine/generator-bench.js';
import { VirtualTime } from '../../../../test/support/engine/virtual-time.js';
import { SnowflakeGenerator } from './snowflake-generator.js';
import { StaticTenure } from './tenure.js';

/** How far the workers' clocks differ at most. */
const SKEW_MS = 40;
const AHEAD_MS = 5;

const call = fc.record({
  worker: fc.nat(2),
  count: fc.integer({ min: 1, max: 5 }),
  /** Time that passes afterwards, for everybody. */
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
