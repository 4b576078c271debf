import { OptionReader } from '../config/option-reader.js';
import { adviseShapes, type AdvisedShape } from './advised-shapes.js';
import type { LayoutNeeds } from './layout-needs.js';
import type { LayoutOptions } from './layout-options.js';
import { planLayout, type LayoutPlan } from './layout-plan.js';
import { wallClock } from '../time/wall-clock.js';

/** A layout that was thought of, and what speaks for and against it. */
export interface LayoutAdvice {
  /** `default` and `number` are the shapes that the documents use; the others are cut to the needs. */
  readonly name: AdvisedShape['name'];
  /** For `RaindropModule.forRoot()` or `createLayout()`. */
  readonly options: LayoutOptions;
  readonly plan: LayoutPlan;
  /** What speaks for it, a sentence each. */
  readonly reasons: readonly string[];
  /** Which needs it does not meet, a sentence each; empty when it meets all. */
  readonly misses: readonly string[];
}

/** More are no advice. */
const MOST = 3;

/**
 * Advises two or three layouts for what they have to bear, the best one first. A layout that misses a need is advised only
 * where fewer than two meet all of them; `misses` says what it misses.
 * @param nowMs the present, Unix ms; by default this moment
 * @throws ConfigurationError naming every need that is out of its range
 */
export function adviseLayout(needs: LayoutNeeds, nowMs = wallClock.now()): readonly LayoutAdvice[] {
  const read = readNeeds(needs);
  const advice = adviseShapes(read, nowMs).map(({ name, options, reasons }): LayoutAdvice => {
    const plan = planLayout({ ...options, minLifetimeDays: 0 }, nowMs);
    return { name, options, plan, reasons, misses: missesOf(plan, read, nowMs) };
  });
  const different = advice.filter(
    ({ plan }, index) => advice.findIndex((each) => each.plan.fingerprint === plan.fingerprint) === index,
  );
  const meeting = different.filter(({ misses }) => misses.length === 0);
  const others = different.filter(({ misses }) => misses.length > 0).sort((a, b) => a.misses.length - b.misses.length);
  return [...meeting, ...others.slice(0, Math.max(0, 2 - meeting.length))].slice(0, MOST);
}

function readNeeds(needs: LayoutNeeds): Required<LayoutNeeds> {
  const reader = new OptionReader(needs);
  const read = {
    processes: reader.integer('processes', { min: 1, max: 1_023, hint: 'a worker table has at most 1023 workers' }),
    idsPerSecond: reader.integer('idsPerSecond', { min: 1, max: 1_000_000_000 }),
    years: reader.integer('years', { min: 1, max: 1_000 }),
    numbers: reader.boolean('numbers', false),
  };
  reader.finish();
  return read;
}

function missesOf(plan: LayoutPlan, needs: Required<LayoutNeeds>, nowMs: number): readonly string[] {
  const { processes, idsPerSecond, years, numbers } = needs;
  const until = new Date(nowMs);
  until.setUTCFullYear(until.getUTCFullYear() + years);
  const endsBefore = (moment: string | null): moment is string =>
    moment !== null && Date.parse(moment) < until.getTime();
  const misses: string[] = [];
  if (plan.idsPerSecond < idsPerSecond)
    misses.push(`One process issues ${plan.idsPerSecond} IDs a second, not ${idsPerSecond}.`);
  if (plan.workers.count < processes) misses.push(`It has ${plan.workers.count} workers for ${processes} processes.`);
  if (endsBefore(plan.expiresAt)) misses.push(`It ends on ${plan.expiresAt.slice(0, 10)}, within ${years} years.`);
  if (numbers && endsBefore(plan.safeUntil)) {
    misses.push(`JavaScript rounds its IDs as numbers from ${plan.safeUntil.slice(0, 10)} on: keep them as text.`);
  }
  return misses;
}
