import { runs } from '../../../../test/tier.js';
import { type Arrival, Fetcher } from '../prefetch/prefetcher.js';
import { NumberBuffer } from './number-buffer.js';
import type { ReservedSegment } from './segment-store.js';
import { SegmentPolicy } from './segment-policy.js';
import {
  aboveIgnored,
  repeatedGiveBack,
  unguardedGiveBack,
  type BreakSource,
} from '../../../../test/support/engine/segment-bench.js';
import { simulate, type Outcome, type Scenario } from '../../../../test/support/engine/segment-simulation.js';

const RUNS = Number(process.env['RAINDROP_SCHEDULES'] ?? runs(300));

/** Within so many runs every broken rule must show. */
const CAUGHT_WITHIN = 300;

/** Runs until one breaks a promise, at most so many. */
async function campaign(
  scenario: Scenario,
  runs: number,
  breakSource?: BreakSource,
): Promise<{ seed: number; failed?: Outcome; issued: number; happened: Record<string, number> }> {
  let issued = 0;
  const happened: Record<string, number> = {};
  for (let seed = 1; seed <= runs; seed++) {
    const outcome = await simulate(seed, scenario, breakSource);
    if (outcome.violations.length > 0) return { seed, failed: outcome, issued, happened };
    issued += outcome.issued;
    for (const [what, times] of Object.entries(outcome.happened)) happened[what] = (happened[what] ?? 0) + times;
  }
  return { seed: runs, issued, happened };
}

/** Puts something in the place of a method or a getter, until the test is over. */
const mends: (() => void)[] = [];
function replace(owner: object, name: string, descriptor: PropertyDescriptor): void {
  const original = Object.getOwnPropertyDescriptor(owner, name)!;
  Object.defineProperty(owner, name, { ...original, ...descriptor });
  mends.push(() => void Object.defineProperty(owner, name, original));
}
afterEach(() => mends.splice(0).forEach((mend) => mend()));

jest.setTimeout(300_000);

describe('No number is handed out twice, and every missing one is accounted for', () => {
  it('with four processes that are killed, closed and copied, and a database that fails in every way', async () => {
    const { seed, failed, issued, happened } = await campaign('crowd', RUNS);
    expect([seed, failed?.violations]).toEqual([RUNS, undefined]);
    expect(issued).toBeGreaterThan(RUNS * 50);
    const seen = ['kill', 'close', 'restore', 'refused call', 'WaitTimeoutError', 'ClosedError'];
    for (const call of ['reserve', 'giveBack']) {
      for (const kind of ['refused', 'answer-lost', 'hangs', 'ghost', 'slow']) seen.push(`${kind} ${call}`);
    }
    expect(seen.filter((what) => (happened[what] ?? 0) < RUNS / 10)).toEqual([]);
  });

  it('with one process whose database loses committed reservations', async () => {
    const { seed, failed, issued, happened } = await campaign('regression', RUNS);
    expect([seed, failed?.violations]).toEqual([RUNS, undefined]);
    expect(issued).toBeGreaterThan(RUNS * 50);
    expect(happened['lost commits']).toBeGreaterThan(RUNS);
  });

  it('also when that database does not heed how far the process has come: its answers are refused', async () => {
    expect((await campaign('regression', RUNS, aboveIgnored)).failed).toBeUndefined();
  });
});

describe('The simulation finds it when', () => {
  const caught = async (scenario: Scenario, breakSource?: BreakSource): Promise<string[]> =>
    (await campaign(scenario, CAUGHT_WITHIN, breakSource)).failed?.violations ?? [];

  it('numbers are taken back although others have gone past them', async () => {
    expect((await caught('crowd', unguardedGiveBack)).join()).toContain('twice');
  });

  it('numbers are given back again later', async () => {
    expect((await caught('crowd', repeatedGiveBack)).join()).toContain('twice');
  });

  it('what was given back is used nevertheless', async () => {
    replace(NumberBuffer.prototype, 'clear', { value: () => undefined });
    expect((await caught('crowd')).join()).toContain('does not have it');
  });

  it('an answer is used that was forgotten', async () => {
    replace(Fetcher.prototype, 'forget', { value: () => undefined });
    expect((await caught('crowd')).join()).toContain('does not have it');
  });

  it('an answer is not compared with those before it', async () => {
    replace(SegmentPolicy.prototype, 'check', { value: () => undefined });
    expect((await caught('regression')).join()).toMatch(/twice|was handed out after/);
  });

  it('no store remembers how far the process has come', async () => {
    const { accept } = SegmentPolicy.prototype;
    replace(SegmentPolicy.prototype, 'accept', {
      value(this: SegmentPolicy, segment: ReservedSegment, arrival: Arrival) {
        accept.call(this, segment, arrival);
        (this as unknown as { highest: bigint }).highest = 0n;
      },
    });
    expect((await caught('regression')).join()).toContain('twice');
  });

  it('two requests go out at once', async () => {
    replace(Fetcher.prototype, 'isFetching', { get: () => false });
    expect((await caught('crowd')).join()).toContain('two requests are under way');
  });
});
