import {
  adviseLayout,
  ConfigurationError,
  type LayoutAdvice,
  type LayoutNeeds,
  type LayoutPlan,
  planLayout,
} from '@raindrop/core';
import { DEFAULT_LAYOUT } from '@raindrop/core/internal';
import type { CliOutput } from '../io/cli-output.js';
import { showNumber } from '../io/text.js';
import {
  type FlagValues,
  layoutOptionsOf,
  moduleOptions,
  namesLayout,
  refuseUnknown,
} from '../options/module-options.js';
import { numberOf, withoutCode } from '../options/option-flags.js';
import { bitPicture } from '../decoding/decoded-id.js';
import { InputError } from '../input-error.js';

/** The flags of the needs, and the value of one that is not given. */
const NEEDS = {
  processes: { need: 'processes', usual: 10 },
  rate: { need: 'idsPerSecond', usual: 1_000 },
  years: { need: 'years', usual: 30 },
} as const;

/**
 * `raindrop plan`: shows what a layout comes to, by default the default layout; or advises one.
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
    `rate           ${showNumber(idsPerTick)} IDs per tick for each worker, ${showNumber(idsPerSecond)} per second`,
    `workers        ${workers.min} to ${workers.max}: ${showNumber(workers.count)}`,
    `all workers    ${showNumber(idsPerSecond * workers.count)} IDs per second`,
  ];
}

function until(moment: string | null): string {
  return moment === null ? 'beyond the year 275760' : `until ${moment}`;
}

/** Whether `raindrop plan` is asked for advice. */
function asksForAdvice(flags: FlagValues): boolean {
  return [...Object.keys(NEEDS), 'numbers'].some((name) => flags[name] !== undefined);
}

/**
 * `raindrop plan --processes ...`: advises layouts that meet the needs, the best one first. Flags of a layout are
 * ignored.
 */
async function advise(flags: FlagValues, output: CliOutput): Promise<void> {
  const needs = Object.entries(NEEDS).map(([flag, { need, usual }]) => {
    const given = flags[flag] as string | undefined;
    return [need, given === undefined ? usual : numberOf(given)];
  });
  const advice = adviceOn({ ...(Object.fromEntries(needs) as LayoutNeeds), numbers: flags['numbers'] === true });
  await output.result(advice, () =>
    advice.flatMap((each, index) => [...(index > 0 ? [''] : []), ...adviceLines(each)]),
  );
}

/** Advises layouts; problems name the flags, not the options. */
function adviceOn(needs: LayoutNeeds): readonly LayoutAdvice[] {
  try {
    return adviseLayout(needs);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const lines = error.problems.map(
      ({ option, given, message }) => `${flagFor(option)} ${given}: ${withoutCode(message)}`,
    );
    throw new InputError('no layout can be recommended:', lines);
  }
}

function flagFor(option: string): string {
  const flag = Object.entries(NEEDS).find(([, { need }]) => need === option)?.[0];
  return flag === undefined ? option : `--${flag}`;
}

function adviceLines({ name, options, plan, reasons, misses }: LayoutAdvice): string[] {
  const { workers, idsPerSecond, expiresAt, safeUntil } = plan;
  const { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength } = options;
  const isNamed = name === 'number';
  const bits =
    `--time-unit ${timeUnit} --start ${String(startTimeStamp)} --timestamp-bits ${timeStampLength} ` +
    `--worker-bits ${workIdLength} --end-bits ${endBitsLength}`;
  const exact = `exact numbers ${untilYear(safeUntil)}`;
  return [
    `${name}${misses.length > 0 ? ', which does not meet all needs' : ''}`,
    `  ${isNamed ? '--layout number' : bits}`,
    `  ${showNumber(workers.count)} workers, ${showNumber(idsPerSecond)} IDs per second each; ${isNamed ? `${exact}, then it refuses` : `${untilYear(expiresAt)}, ${exact}`}`,
    ...reasons.map((reason) => `  + ${reason}`),
    ...misses.map((miss) => `  - ${miss}`),
  ];
}

function untilYear(moment: string | null): string {
  return moment === null ? 'beyond the year 275760' : `until ${moment.split('T')[0]!.replace('+0', '')}`;
}
