import { runPlan } from './campaign.js';
import type { Mutant } from './mutant.js';
import { randomPlan } from './random-plan.js';
import { shrink } from './shrink.js';
import { Trace } from './trace.js';

/** A failing schedule for people: its seed, what was set up, and the shortest trace that still fails in the same way. */
export async function failureReport(seed: number, mutant?: Mutant): Promise<string> {
  const plan = randomPlan(seed);
  const { violations } = await runPlan(plan, mutant);
  const broken = violations[0]?.invariant;
  const shrunk = await shrink(plan, async (shorter) => {
    const outcome = await runPlan(shorter, mutant);
    return outcome.violations[0] !== undefined && outcome.violations[0].invariant === broken;
  });
  const trace = new Trace();
  await runPlan(shrunk.plan, mutant, trace);
  return [
    `seed ${seed} breaks: ${broken}`,
    `set up: ${JSON.stringify(plan.setup)}`,
    `${shrunk.plan.actions.length} of ${plan.actions.length} actions are enough (${shrunk.tries} tries):`,
    ...trace.lines,
  ].join('\n');
}
