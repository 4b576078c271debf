import { performance } from 'node:perf_hooks';
import type { Violation } from './invariants.js';
import type { Mutant } from './mutant.js';
import type { Plan } from './plan.js';
import { randomPlan } from './random-plan.js';
import { Schedule, type Outcome } from './schedule.js';
import type { Trace } from './trace.js';

/** A schedule that broke an invariant. */
export interface Failure {
  readonly seed: number;
  readonly violations: readonly Violation[];
}

/** What many schedules have seen together. */
export interface Tally {
  schedules: number;
  readonly seed: number;
  simulatedHours: number;
  kills: number;
  issued: number;
  /** IDs that came twice. */
  repeated: number;
  readonly fired: Record<string, number>;
  readonly refusals: Record<string, number>;
  milliseconds: number;
  failure: Failure | undefined;
}

/** Runs a plan, with a rule broken if so wanted. */
export async function runPlan(plan: Plan, mutant?: Mutant, trace?: Trace): Promise<Outcome> {
  const mend = mutant?.install();
  const { stackTraceLimit } = Error;
  // Hundreds of calls are refused in each schedule, and no test reads their stacks.
  Error.stackTraceLimit = 0;
  try {
    return await new Schedule(plan, trace, mutant?.constantTokens).run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
    mend?.();
  }
}

/** Runs the schedules of seed, seed + 1 and so on, as long as `goOn` says and no invariant is broken. */
export async function campaign(seed: number, goOn: (tally: Tally) => boolean, mutant?: Mutant): Promise<Tally> {
  const begun = performance.now();
  const tally: Tally = {
    schedules: 0,
    seed,
    simulatedHours: 0,
    kills: 0,
    issued: 0,
    repeated: 0,
    fired: {},
    refusals: {},
    milliseconds: 0,
    failure: undefined,
  };
  while (tally.failure === undefined && goOn(tally)) {
    const present = seed + tally.schedules;
    const { violations, issued, simulatedMs, fired, refusals } = await runPlan(randomPlan(present), mutant);
    tally.schedules++;
    tally.issued += issued;
    tally.simulatedHours += simulatedMs / 3_600_000;
    tally.kills += fired['kill'] ?? 0;
    tally.repeated += violations.filter(({ invariant }) => invariant === 'an ID is issued once').length;
    add(tally.fired, fired);
    add(tally.refusals, refusals);
    if (violations.length > 0) tally.failure = { seed: present, violations };
    tally.milliseconds = Math.round(performance.now() - begun);
  }
  return tally;
}

/** Goes on for so many schedules. */
export const upTo =
  (count: number) =>
  ({ schedules }: Tally): boolean =>
    schedules < count;

function add(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count;
}
