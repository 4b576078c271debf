import { planLayout, type Layout, type LayoutPlan, type WorkerRange } from '@raindrop/nestjs';

/** The plan of a layout that is there, for these workers. */
export function planOfLayout(layout: Layout, workers: WorkerRange = { min: 0, max: layout.maxWorkerId }): LayoutPlan {
  return planLayout({ layout, serviceMinWorkId: workers.min, serviceMaxWorkId: workers.max });
}
