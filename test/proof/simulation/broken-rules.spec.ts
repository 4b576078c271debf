import { isFull } from '../../tier.js';
import { campaign, runPlan, upTo } from './campaign.js';
import { failureReport } from './failure-report.js';
import { MUTANTS } from './mutants.js';
import { randomPlan } from './random-plan.js';
import { shrink } from './shrink.js';

/** Within so many schedules every broken rule must show. */
const CAUGHT_WITHIN = 400;

/** One of four in `npm test`. */
const rules = Object.entries(MUTANTS).filter((_, place) => isFull || place % 4 === 0);

jest.setTimeout(3_600_000);

describe('The simulation finds it when', () => {
  it.each(rules.map(([name, { rule }]) => ({ name, rule })))('this is broken: $rule ($name)', async ({ name }) => {
    const mutant = MUTANTS[name]!;
    // The known one comes first; it is missing when the schedules have changed.
    const known = (await campaign(mutant.shownBy, upTo(1), mutant)).failure;
    const found = known ?? (await campaign(1, upTo(CAUGHT_WITHIN), mutant)).failure;
    expect(found?.seed).toBeLessThanOrEqual(CAUGHT_WITHIN);
  });

  it('a rule is broken, and names the few actions that suffice', async () => {
    const mutant = MUTANTS['ambiguous-is-success']!;
    const { failure } = await campaign(1, upTo(CAUGHT_WITHIN), mutant);
    const plan = randomPlan(failure!.seed);
    const fails = async (shorter: typeof plan): Promise<boolean> =>
      (await runPlan(shorter, mutant)).violations.length > 0;
    const shrunk = await shrink(plan, fails);
    expect(plan.actions.length).toBeGreaterThan(300);
    expect(shrunk.plan.actions.length).toBeLessThan(40);
    expect(await fails(shrunk.plan)).toBe(true);
    expect((await runPlan(shrunk.plan)).violations).toEqual([]);

    const report = await failureReport(failure!.seed, mutant);
    expect(report).toMatch(new RegExp(`^seed ${failure!.seed} breaks: `));
    expect(report).toMatch(/\n +\d+\.\d{3} s {2}start, process \d/);
    expect(report).toMatch(/VIOLATION: [^\n]+$/);
  });
});
