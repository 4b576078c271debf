import type { Action } from './actions.js';
import type { Plan } from './plan.js';

/** What shrinking has left. */
export interface Shrunk {
  readonly plan: Plan;
  readonly tries: number;
}

/**
 * The shortest failing plan that can be found by leaving actions out: delta debugging (Zeller and Hildebrandt, 2002), in
 * ever smaller pieces, from the end on.
 * @param fails whether a plan still fails
 */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>, maxTries = 1_500): Promise<Shrunk> {
  let { actions } = plan;
  let tries = 0;
  const stillFails = (left: readonly Action[]): Promise<boolean> => {
    tries++;
    return fails({ ...plan, actions: left });
  };
  for (let size = Math.ceil(actions.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let isShorter = true; isShorter;) {
      isShorter = false;
      for (let end = actions.length; end > 0 && tries < maxTries; end -= size) {
        const left = [...actions.slice(0, Math.max(0, end - size)), ...actions.slice(end)];
        if (!(await stillFails(left))) continue;
        actions = left;
        // Only the last pass goes on until nothing at all can be left out.
        isShorter = size === 1;
      }
    }
  }
  return { plan: { ...plan, actions }, tries };
}
