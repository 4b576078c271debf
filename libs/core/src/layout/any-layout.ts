import type { OptionReader } from '../config/option-reader.js';
import { Layout } from './layout.js';
import { readLayout, type LayoutOptions } from './layout-options.js';
import { readUsage, resolvedFor, type ResolvedLayout } from './layout-usage.js';

/** The options that shape a layout; a ready one takes their place. */
export const BIT_OPTIONS = [
  'timeUnit',
  'startTimeStamp',
  'timeStampLength',
  'workIdLength',
  'endBitsLength',
  'endBitsValue',
] as const;

/** A ready layout, a preset's for example, and how a service uses it. */
export interface ReadyLayoutOptions extends Omit<LayoutOptions, (typeof BIT_OPTIONS)[number]> {
  layout: Layout;
}

/**
 * Reads the options of a layout, or a ready one in their place, with a reader that others share.
 * @param mostWorkers the most worker ids of a ready layout when none are named
 * @returns undefined when a problem leaves nothing to build
 */
export function readAnyLayout(
  reader: OptionReader,
  nowMs: number,
  mostWorkers = Number.POSITIVE_INFINITY,
): ResolvedLayout | undefined {
  const given = reader.value('layout');
  if (given === undefined) return readLayout(reader, nowMs);
  for (const option of BIT_OPTIONS) {
    const value = reader.value(option);
    if (value !== undefined) reader.problem(option, value, 'cannot be given together with layout, which decides it');
  }
  if (!(given instanceof Layout)) {
    reader.problem('layout', given, 'must be a Layout, as createLayout() returns it');
    return undefined;
  }
  const usage = readUsage(reader, given.maxWorkerId, Math.min(given.maxWorkerId, mostWorkers));
  return resolvedFor(given, usage, nowMs);
}
