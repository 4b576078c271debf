import { runs } from '../../tier.js';
import { runPlan } from './campaign.js';
import { failureReport } from './failure-report.js';
import { FIRST_RESTORE_SEED, nextRestoreSeed, randomPlan } from './random-plan.js';

const SCHEDULES = runs(120, 8);

/** Elsewhere each of them may well be missing. */
const EXPECTED = [
  'restored backup',
  'restored backup without its state',
  'backup older than a layout',
  'return to a former primary',
  'failover',
  'fence',
  'fence by a wrong host clock',
  'fence by a wrong store clock',
  'fence refused: CLOCK_SKEW',
  'fence refused: CLOCK_BEHIND',
  'one layout stated',
  'wait before a fence',
  'last time stated',
  'all clocks step',
  'reserved past',
  'rollout',
];

jest.setTimeout(3_600_000);

describe('Backups of any age, fenced by an operator whose clocks are wrong at first', () => {
  it(`keep every promise in ${SCHEDULES} schedules`, async () => {
    const fired = new Map<string, number>();
    let issued = 0;
    for (let seed = FIRST_RESTORE_SEED, left = SCHEDULES; left > 0; seed = nextRestoreSeed(seed), left--) {
      const outcome = await runPlan(randomPlan(seed));
      if (outcome.violations.length > 0) throw new Error(await failureReport(seed));
      issued += outcome.issued;
      for (const [what, count] of Object.entries(outcome.fired)) fired.set(what, (fired.get(what) ?? 0) + count);
    }
    expect(EXPECTED.filter((what) => !fired.has(what))).toEqual([]);
    expect(issued).toBeGreaterThan(SCHEDULES * 500);
    expect(fired.get('fence')).toBeGreaterThan(SCHEDULES * 10);
  });
});

/** How often this happened in a schedule. */
async function happened(seed: number, ...what: string[]): Promise<number[]> {
  const { fired, violations } = await runPlan(randomPlan(seed));
  expect(violations).toEqual([]);
  return what.map((each) => fired[each] ?? 0);
}

describe('These schedules show what a fence has to judge:', () => {
  it('a fence by a wrong store clock, which nothing but the operator’s clock shows', async () => {
    const [wrong, refused] = await happened(7, 'fence by a wrong store clock', 'fence refused: CLOCK_SKEW');
    expect(wrong).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });

  it('a fence by wrong clocks of host and store, which a row shows', async () => {
    const [wrong, refused] = await happened(17, 'fence by a wrong store clock', 'fence refused: CLOCK_BEHIND');
    expect(wrong).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });

  it('another layout that has served since the backup, which does not know it', async () => {
    const [older] = await happened(87, 'backup older than a layout');
    expect(older).toBeGreaterThan(0);
  });

  it('a loss that was recorded in the future, then a fence', async () => {
    const [ahead, refused, stated] = await happened(
      107,
      'all clocks step',
      'fence refused: CLOCK_BEHIND',
      'last time stated',
    );
    expect(ahead).toBe(1);
    expect(refused).toBeGreaterThan(0);
    expect(stated).toBeGreaterThan(0);
  });
});
