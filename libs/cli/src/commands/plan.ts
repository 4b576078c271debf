import { Layout, planLayout, type LayoutPlan } from '@raindrop/core';
import type { CliOutput } from '../io/cli-output.js';
import { showNumber } from '../io/show-number.js';
import { layoutOptionsOf, moduleOptions, namesLayout, NO_LAYOUT, type FlagValues } from '../options/module-options.js';
import { InputError } from '../input-error.js';
import { numberOf } from '../options/option-flags.js';
import { bitPicture } from './bit-picture.js';

/** `raindrop plan`: what a layout comes to, before anything is issued with it. */
export async function plan(flags: FlagValues, output: CliOutput): Promise<void> {
  const found = planFor(flags, Date.now());
  await output.result(found, () => linesOf(found));
  if (output.isJson) return;
  for (const { code, message } of found.warnings) output.warn(`${message} (${code})`);
}

function planFor(flags: FlagValues, nowMs: number): LayoutPlan {
  const options = moduleOptions(flags);
  if (!namesLayout(options)) throw new InputError(NO_LAYOUT);
  const needs = {
    ...(flags['nodes'] !== undefined && { expectedNodes: numberOf(flags['nodes'] as string) }),
    ...(flags['need'] !== undefined && { expectedIdsPerSecond: numberOf(flags['need'] as string) }),
  };
  const asked = { ...layoutOptionsOf(options), ...needs } as ReturnType<typeof layoutOptionsOf>;
  const { layout } = options;
  return planLayout(layout instanceof Layout ? { ...asked, layout } : asked, nowMs);
}

function linesOf(plan: LayoutPlan): string[] {
  const { workers, idsPerTick, idsPerSecond, lifetimeYears } = plan;
  const unit = plan.timeUnit ?? `${plan.unitMs} ms`;
  return [
    ...bitPicture(plan.fields, plan.bits),
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
