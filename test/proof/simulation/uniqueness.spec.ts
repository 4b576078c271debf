import { isFull, runs } from '../../tier.js';
import { campaign, runPlan, upTo } from './campaign.js';
import { failureReport } from './failure-report.js';
import { randomPlan } from './random-plan.js';

const SCHEDULES = Number(process.env['RAINDROP_SCHEDULES'] ?? runs(500, 14));

/** The seeds of schedules that run twice. */
const REPLAYED: readonly number[] = isFull ? [7, 42, 2_000_000_011] : [7];

/** What is expected less often than this in all schedules together may well be missing in them. */
const TOO_FEW = 3;

/** How often each event must come about, per schedule; about half of what is usual. */
const FLOORS: Readonly<Record<string, number>> = {
  kill: 15,
  release: 4,
  pause: 1,
  'long pause': 1,
  block: 0.5,
  'long block': 0.3,
  'step forward': 2,
  'step back': 2,
  'huge step forward': 0.5,
  'huge step back': 0.5,
  'database step': 0.7,
  outage: 0.8,
  partition: 0.8,
  'refused write': 0.5,
  'answer-lost write': 0.5,
  'hangs write': 0.5,
  'ghost write': 1,
  'slow write': 0.5,
  'ghost readRow': 0.2,
  'slow readRow': 0.2,
  'answer-lost readSample': 0.1,
  'answer-lost readAgain': 0.04,
  'hangs prepare': 0.5,
  'refused prepare': 3,
  'answer-lost prepare': 0.05,
  'ghost rememberLayout': 0.02,
  copy: 0.4,
  rollout: 2,
  'row marked deleted': 0.4,
  'foreign write': 0.06,
  'lost commits': 0.4,
  failover: 0.5,
  'failover, the old primary lives on': 0.5,
  suspension: 0.3,
  'database-regression': 0.12,
  'lease-lost': 3,
  'lease-regained': 2,
  'lease-suspect': 2,
  'clock-back': 0.2,
  backfill: 2,
  'reserved past': 0.1,
};

/** The typed errors that must have been seen. */
const REFUSALS = [
  'NOT_READY',
  'LEASE_LOST',
  'LEASE_SUSPECT',
  'CLOSED',
  'CLOCK_SKEW',
  'CLOCK_MOVED_BACK',
  'SEQUENCE_EXHAUSTED',
  'RESERVATION_EXHAUSTED',
  'WAIT_TIMEOUT',
  'start: CLOCK_SKEW',
  'start: NO_FREE_WORKER',
  'start: LAYOUT_CONFLICT',
  'start: STORE_UNAVAILABLE',
  'backfill: NO_ROW_FOR_PAST',
  // Within 50 schedules.
  ...(SCHEDULES >= 50 ? ['backfill: PAST_EXHAUSTED'] : []),
];

jest.setTimeout(3_600_000);

describe('Four processes on three rows, whatever happens to them', () => {
  it(`keep every promise in ${SCHEDULES} schedules`, async () => {
    const { failure, fired, refusals, issued } = await campaign(1, upTo(SCHEDULES));
    if (failure !== undefined) throw new Error(await failureReport(failure.seed));
    const expected = Object.entries(FLOORS).map(([what, floor]) => ({ what, floor: floor * SCHEDULES }));
    const missing = expected.filter(({ what, floor }) => floor >= TOO_FEW && (fired[what] ?? 0) < floor);
    expect(missing.map(({ what, floor }) => [what, fired[what], floor])).toEqual([]);
    expect(REFUSALS.filter((code) => refusals[code] === undefined)).toEqual([]);
    expect(issued).toBeGreaterThan(SCHEDULES * 200);
  });

  it.each(REPLAYED)('replay seed %d identically, to the last ID', async (seed) => {
    const first = await runPlan(randomPlan(seed));
    expect(await runPlan(randomPlan(seed))).toEqual(first);
    expect(await runPlan(randomPlan(seed + 1))).not.toEqual(first);
  });
});
