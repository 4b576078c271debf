import type { OptionReader } from '../config/option-reader.js';
import { TIME_UNITS } from '../time/timeline.js';
import type { Layout } from './layout.js';

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
interface LayoutUsage {
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

/** Something legal that is rarely wanted. `code` is stable. */
export interface LayoutWarning {
  readonly code:
    'LEAP_SECONDS' | 'COARSE_UNIT' | 'CAPACITY' | 'NO_END_BITS' | 'OLD_EPOCH' | 'FEW_WORKERS' | 'EXPIRES_SOON';
  readonly message: string;
}

/** The use of a layout, against which its warnings are judged. */
export interface LayoutUse {
  readonly nowMs: number;
  /** How many worker ids the service's range holds. */
  readonly workers: number;
  readonly expectedNodes?: number | undefined;
  readonly expectedIdsPerSecond?: number | undefined;
}

const YEAR_MS = 365 * 86_400_000;

/** Everything about a layout that a careful reader would question. */
function layoutWarnings(layout: Layout, use: LayoutUse): readonly LayoutWarning[] {
  const warnings: LayoutWarning[] = [];
  const warn = (code: LayoutWarning['code'], message: string): number => warnings.push({ code, message });

  // The bits of other systems are what they are: nobody can heed advice on them.
  const isOurs = layout.hasClockBack;
  if (isOurs && layout.unitMs === TIME_UNITS.millisecond.ms) {
    warn(
      'LEAP_SECONDS',
      'milliseconds feel every clock correction and leap second; a unit of seconds borrows and holds more easily',
    );
  }
  if (layout.unitMs >= TIME_UNITS.hour.ms) {
    const unit = layout.unitMs < TIME_UNITS.day.ms ? 'hour' : 'day';
    warn('COARSE_UNIT', `a tick of one ${unit} is rarely a good choice: a used-up tick cannot be waited for`);
  }
  if (use.expectedIdsPerSecond !== undefined && use.expectedIdsPerSecond > layout.idsPerSecond) {
    warn(
      'CAPACITY',
      `${use.expectedIdsPerSecond} IDs per second are expected of a worker, but the layout holds ${layout.idsPerSecond}`,
    );
  }
  if (isOurs && layout.fields.every((field) => field.role !== 'fixed')) {
    warn('NO_END_BITS', 'without an end bit the bit lengths can never be changed safely; endBitsLength 1 is advised');
  }
  const wastedYears = (use.nowMs - layout.epochMs) / YEAR_MS;
  if (isOurs && wastedYears > 5) {
    warn('OLD_EPOCH', `the epoch lies ${Math.floor(wastedYears)} years back; that much of the layout's life is unused`);
  }
  if (use.expectedNodes !== undefined && use.workers < 2 * use.expectedNodes) {
    warn(
      'FEW_WORKERS',
      `${use.workers} worker ids for ${use.expectedNodes} nodes: take at least twice as many as nodes`,
    );
  }
  if (layout.expiresAt !== null && layout.expiresAt.getTime() - use.nowMs < YEAR_MS) {
    warn('EXPIRES_SOON', `the layout expires at ${layout.expiresAt.toISOString()}: plan the next one`);
  }
  return warnings;
}
