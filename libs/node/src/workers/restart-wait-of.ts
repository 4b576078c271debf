import type { WorkerIdGuarantee } from '@raindrop/core';
import type { ResolvedAssignerOptions } from '../options/assigner-options.js';

/** How far the clocks of two hosts between which a worker id moves may be apart, ms: with NTP it is some ms. */
const BETWEEN_HOSTS_MS = 1_000;

/** How far ahead of the clock the last holder of a worker id may have issued, ms; false when there was none. */
export function restartWaitOf(guarantee: WorkerIdGuarantee, options: ResolvedAssignerOptions): number | false {
  if (guarantee === 'fresh') return false;
  return options.restartWaitMs ?? options.borrowMs + (guarantee === 'exclusive' ? BETWEEN_HOSTS_MS : 0);
}
