import type { WorkerState, WorkerView } from '@raindrop/node';

/** How many rows there are in each state. */
export function countsOf(workers: readonly WorkerView[]): Record<WorkerState, number> {
  const counts = { held: 0, free: 0, expired: 0, foreign: 0, 'used-up': 0, deleted: 0 };
  for (const { state } of workers) counts[state]++;
  return counts;
}
