import type { WorkerRange } from '@raindrop/core';

const DAY_MS = 86_400_000;

/** Ids used since some moment, and how long ago that was. */
export interface Consumption {
  readonly ids: number;
  readonly ms: number;
}

/** Whether so few ids are left after `workerId` that somebody should know: less than 20 % of the range. */
export function isScarce(workerId: number, { min, max }: WorkerRange): boolean {
  return max - workerId < 0.2 * (max - min + 1);
}

/** What to say then. */
export function supplyWarning(workerId: number, workers: WorkerRange, { ids, ms }: Consumption): string {
  const { min, max } = workers;
  const left = max - workerId;
  const percent = (100 * left) / (max - min + 1);
  const urgency = percent < 5 ? 'almost used up' : 'running out';
  const days = ids > 0 && ms > 0 ? ` (about ${Math.floor((left * ms) / ids / DAY_MS)} days at the present rate)` : '';
  return (
    `worker ids are ${urgency}: ${left} starts are left${days}, ${percent.toFixed(1)} % of all; then no process starts any ` +
    `more. Plan a layout with another endBitsValue or datacenterId and a new table, or the database lease`
  );
}
