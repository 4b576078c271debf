import type { OptionReader } from '../config/option-reader.js';
import type { Layout } from './layout.js';
import { layoutOfAnyCopy } from './layout-of-any-copy.js';
import { readEpoch, readLayout, type LayoutOptions } from './layout-options.js';
import { readUsage, resolvedFor, type ResolvedLayout } from './layout-usage.js';
import { numberLayout } from './named-layouts.js';

/** The options that shape a layout; a ready one takes their place. */
export const BIT_OPTIONS = [
  'timeUnit',
  'startTimeStamp',
  'timeStampLength',
  'workIdLength',
  'endBitsLength',
  'endBitsValue',
] as const;

/** Those of them that may stand beside `layout: 'number'`. */
const NUMBER_OPTIONS: readonly string[] = ['startTimeStamp', 'endBitsValue'];

/** A ready layout, a preset's for example, and how a service uses it. */
export interface ReadyLayoutOptions
  extends
    Omit<LayoutOptions, (typeof BIT_OPTIONS)[number]>,
    Partial<Pick<LayoutOptions, (typeof BIT_OPTIONS)[number]>> {
  /** `number` has the bits of keys that are JavaScript numbers; `startTimeStamp` and `endBitsValue` may stand beside it. */
  layout: Layout | 'number';
}

/**
 * Reads the options of a layout, or a ready one in their place, with a reader that others share.
 * @param mostWorkers the most worker ids of a ready layout when none are named
 * @param unnamed the layout of options that name none; by default they are required
 * @returns undefined when a problem leaves nothing to build
 */
export function readAnyLayout(
  reader: OptionReader,
  nowMs: number,
  mostWorkers = Number.POSITIVE_INFINITY,
  unnamed?: Layout,
): ResolvedLayout | undefined {
  const given = reader.value('layout');
  if (given === undefined && (unnamed === undefined || !namesNoLayout(reader))) return readLayout(reader, nowMs);
  const layout = given === undefined ? unnamed : readReady(reader, given, nowMs);
  if (layout === undefined) return undefined;
  const usage = readUsage(reader, layout.maxWorkerId, Math.min(layout.maxWorkerId, mostWorkers));
  return resolvedFor(layout, usage, nowMs);
}

/** Tells whether the options say nothing of what the IDs look like. */
export function namesNoLayout(reader: OptionReader): boolean {
  return ['layout', ...BIT_OPTIONS].every((option) => reader.value(option) === undefined);
}

function readReady(reader: OptionReader, given: unknown, nowMs: number): Layout | undefined {
  const isNumber = typeof given === 'string' && given.toLowerCase() === 'number';
  for (const option of BIT_OPTIONS) {
    const value = reader.value(option);
    if (value === undefined || (isNumber && NUMBER_OPTIONS.includes(option))) continue;
    reader.problem(option, value, 'cannot be given together with layout, which decides it');
  }
  const layout = layoutOfAnyCopy(given);
  if (layout !== undefined) return layout;
  if (!isNumber) {
    reader.problem('layout', given, `must be 'number', or a Layout as createLayout() returns it`);
    return undefined;
  }
  const epochMs = reader.value('startTimeStamp') === undefined ? undefined : readEpoch(reader, nowMs);
  const endValue = reader.integer('endBitsValue', { min: 0, max: 1, default: 0 });
  return reader.refused('startTimeStamp', 'endBitsValue') ? undefined : numberLayout(epochMs, endValue);
}
