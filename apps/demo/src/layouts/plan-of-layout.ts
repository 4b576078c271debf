import { planOf, resolvedFor, type Layout, type LayoutPlan, type WorkerRange } from '@raindrop/nestjs';

/** The plan of a layout that is there, for these workers. */
export function planOfLayout(layout: Layout, workers: WorkerRange = { min: 0, max: layout.maxWorkerId }): LayoutPlan {
  const usage = {
    firstLane: 0,
    minLifetimeDays: 0,
    expectedNodes: undefined,
    expectedIdsPerSecond: undefined,
  } as const;
  return planOf(resolvedFor(layout, { ...usage, workers }, Date.now()));
}
