import type { OptionReader } from '../config/option-reader.js';
import type { Layout } from './layout.js';
import { layoutWarnings, type LayoutWarning } from './layout-warnings.js';

/** A checked layout and what belongs to it. */
export interface ResolvedLayout {
  readonly layout: Layout;
  /** The service's worker ids, both ends included. */
  readonly workers: WorkerRange;
  /** The lane a fresh worker starts on. */
  readonly firstLane: 0 | 1;
  readonly minLifetimeDays: number;
  readonly warnings: readonly LayoutWarning[];
}

/** Worker ids, both ends included. */
export interface WorkerRange {
  readonly min: number;
  readonly max: number;
}

/** How a service uses a layout, whatever the layout is. */
export interface LayoutUsage {
  readonly workers: WorkerRange;
  readonly firstLane: 0 | 1;
  readonly minLifetimeDays: number;
  readonly expectedNodes: number | undefined;
  readonly expectedIdsPerSecond: number | undefined;
}

/** Reads the options that do not shape the layout. @param defaultMax the highest worker id when none is given */
export function readUsage(reader: OptionReader, maxWorkerId: number, defaultMax = maxWorkerId): LayoutUsage {
  const hint = 'the range follows from workIdLength, the worker bits';
  const min = reader.integer('serviceMinWorkId', { min: 0, max: maxWorkerId, default: Math.min(1, maxWorkerId), hint });
  const max = reader.integer('serviceMaxWorkId', {
    min: 0,
    max: maxWorkerId,
    default: Math.max(min, defaultMax),
    hint,
  });
  if (min > max && !reader.refused('serviceMinWorkId', 'serviceMaxWorkId')) {
    reader.problem('serviceMinWorkId', min, `must not be greater than serviceMaxWorkId, ${max}`);
  }
  return {
    workers: { min, max },
    firstLane: reader.integer('timeBackBitValue', { min: 0, max: 1, default: 0 }) as 0 | 1,
    minLifetimeDays: reader.integer('minLifetimeDays', { min: 0, max: 36_500, default: 365 }),
    expectedNodes: optionalCount(reader, 'expectedNodes'),
    expectedIdsPerSecond: optionalCount(reader, 'expectedIdsPerSecond'),
  };
}

/** A layout and its use, with the warnings that they call for at `nowMs`. */
export function resolvedFor(layout: Layout, usage: LayoutUsage, nowMs: number): ResolvedLayout {
  const { workers, firstLane, minLifetimeDays } = usage;
  const warnings = layoutWarnings(layout, { ...usage, nowMs, workers: workers.max - workers.min + 1 });
  return { layout, workers, firstLane, minLifetimeDays, warnings };
}

function optionalCount(reader: OptionReader, name: string): number | undefined {
  if (reader.value(name) === undefined) return undefined;
  return reader.integer(name, { min: 1, max: Number.MAX_SAFE_INTEGER });
}
