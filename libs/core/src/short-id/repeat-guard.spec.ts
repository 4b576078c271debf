import fc from 'fast-check';
import { RepeatGuard } from './short-id-generator.js';

const CYCLE_MS = 200;
const KEEP_MS = 150;

const happening = fc.record({
  /** Time that really passes. */
  ms: fc.integer({ min: 1, max: 12 }),
  /** What the clock is set forward, or how far it runs ahead, by. */
  leapMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.integer({ min: -40, max: 260 }) },
  ),
});

interface Tried {
  readonly nowMs: number;
  readonly timeMs: number;
  readonly blockedMs: number;
}

/** Issues at every happening; times in numbers never fall, as those of a lane. */
function run(happenings: readonly { ms: number; leapMs: number }[], isGuarded = true) {
  const guard = new RepeatGuard(CYCLE_MS, KEEP_MS);
  const tried: Tried[] = [];
  let [nowMs, leadMs, timeMs] = [0, 1_000, 0];
  for (const { ms, leapMs } of happenings) {
    nowMs += ms;
    leadMs += leapMs;
    timeMs = Math.max(timeMs + 1, nowMs + leadMs);
    const blockedMs = isGuarded ? guard.blockedMs(timeMs, nowMs) : 0;
    if (blockedMs === 0) guard.note(timeMs, nowMs);
    tried.push({ nowMs, timeMs, blockedMs });
  }
  return tried;
}

function repeatsTooSoon(tried: readonly Tried[]): boolean {
  const lastMs = new Map<number, number>();
  return tried.some(({ nowMs, timeMs, blockedMs }) => {
    if (blockedMs > 0) return false;
    const number = timeMs % CYCLE_MS;
    const before = lastMs.get(number) ?? Number.NEGATIVE_INFINITY;
    lastMs.set(number, nowMs);
    return nowMs - before < KEEP_MS;
  });
}

const happenings = fc.array(happening, { minLength: 5, maxLength: 200, size: 'max' });

describe('the guard against repeats', () => {
  it('lets no number come again too soon, whatever the clock does', () => {
    let blocked = 0;
    fc.assert(
      fc.property(happenings, (each) => {
        const tried = run(each);
        blocked += tried.filter(({ blockedMs }) => blockedMs > 0).length;
        expect(repeatsTooSoon(tried)).toBe(false);
      }),
      { seed: 8, numRuns: 2_000 },
    );
    expect(blocked).toBeGreaterThan(1_000);
  });

  it('is needed for that: the test can fail', () => {
    const samples = fc.sample(happenings, { seed: 8, numRuns: 200 });
    expect(samples.filter((each) => repeatsTooSoon(run(each, false))).length).toBeGreaterThan(20);
  });

  it('never blocks while the clock runs as time does', () => {
    const samples = fc.sample(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 500, maxLength: 500 }), 20);
    for (const each of samples) {
      expect(run(each.map((ms) => ({ ms, leapMs: 0 }))).every(({ blockedMs }) => blockedMs === 0)).toBe(true);
    }
  });

  it('says for how long it blocks, a little more than needed at most', () => {
    const guard = new RepeatGuard(CYCLE_MS, KEEP_MS);
    guard.note(1_000, 0);
    guard.note(1_010, 10);
    expect(guard.blockedMs(1_070, 20)).toBe(0);
    expect(guard.blockedMs(1_071, 20)).toBe(140);
    expect([guard.blockedMs(1_210, 159), guard.blockedMs(1_211, 160)]).toEqual([1, 0]);
  });

  it('keeps a handful of numbers in mind while a clock drifts', () => {
    const guard = new RepeatGuard(2_097_152, 2_037_000);
    for (let nowMs = 0; nowMs < 10_000_000; nowMs += 1_000) {
      const timeMs = nowMs * 1.01;
      expect(guard.blockedMs(timeMs, nowMs)).toBe(0);
      guard.note(timeMs, nowMs);
    }
    expect((guard as unknown as { stretches: unknown[] }).stretches.length).toBeLessThan(10);
  });
});
