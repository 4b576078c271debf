import { TIME_UNITS } from '../time/time-unit.js';
import type { Layout } from './layout.js';

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
export function layoutWarnings(layout: Layout, use: LayoutUse): readonly LayoutWarning[] {
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
