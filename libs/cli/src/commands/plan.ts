import { planLayout, type LayoutPlan } from '@raindrop/core';
import { DEFAULT_LAYOUT } from '@raindrop/core/internal';
import type { CliOutput } from '../io/cli-output.js';
import { showNumber } from '../io/show-number.js';
import {
  layoutOptionsOf,
  moduleOptions,
  namesLayout,
  refuseUnknown,
  type FlagValues,
} from '../options/module-options.js';
import { numberOf } from '../options/option-flags.js';
import { advise, asksForAdvice } from './advise.js';
import { bitPicture } from '../decoding/bit-picture.js';

/**
 * `raindrop plan`: what a layout comes to, before anything is issued with it (without one, the default); or which one to
 * take.
 */
export async function plan(flags: FlagValues, output: CliOutput): Promise<void> {
  if (asksForAdvice(flags)) return advise(flags, output);
  const found = planFor(flags, Date.now());
  await output.result(found, () => linesOf(found, output));
  if (output.isJson) return;
  for (const { code, message } of found.warnings) output.warn(`${message} (${code})`);
}

function planFor(flags: FlagValues, nowMs: number): LayoutPlan {
  const options = moduleOptions(flags);
  refuseUnknown(options);
  const needs = {
    ...(flags['nodes'] !== undefined && { expectedNodes: numberOf(flags['nodes'] as string) }),
    ...(flags['need'] !== undefined && { expectedIdsPerSecond: numberOf(flags['need'] as string) }),
  };
  const asked = { ...layoutOptionsOf(options), ...needs } as ReturnType<typeof layoutOptionsOf>;
  const layout = namesLayout(options) ? options.layout : DEFAULT_LAYOUT;
  return planLayout(layout === undefined ? asked : { ...asked, layout }, nowMs);
}

function linesOf(plan: LayoutPlan, output: CliOutput): string[] {
  const { workers, idsPerTick, idsPerSecond, lifetimeYears } = plan;
  const unit = plan.timeUnit ?? `${plan.unitMs} ms`;
  return [
    ...bitPicture(plan.fields, plan.bits, { output }),
    '',
    `fingerprint    ${plan.fingerprint}`,
    `time           ticks of one ${unit} from ${plan.epoch}`,
    `lifetime       ${showNumber(Math.floor(lifetimeYears))} years, ${until(plan.expiresAt)}`,
    `2^53 - 1       IDs are exact JavaScript numbers ${until(plan.safeUntil)}`,
    `rate           ${showNumber(idsPerTick)} IDs a tick of each worker, ${showNumber(idsPerSecond)} a second`,
    `workers        ${workers.min} to ${workers.max}: ${showNumber(workers.count)}`,
    `all workers    ${showNumber(idsPerSecond * workers.count)} IDs a second`,
  ];
}

function until(moment: string | null): string {
  return moment === null ? 'beyond the year 275760' : `until ${moment}`;
}
