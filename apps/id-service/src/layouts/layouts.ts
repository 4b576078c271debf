import { planLayout, presets, type Layout, type LayoutPlan, type WorkerRange } from '@raindrop/nestjs';
import { serviceLayout } from '../service-layout.js';

/** Every preset with its own defaults; the data centre of uid-generator's is only for issuing, reading shows any. */
export const namedPresets = Object.freeze({
  twitter: presets.twitter(),
  westid: presets.westid(),
  uidGenerator: presets.uidGenerator(),
  uidGeneratorGlobal: presets.uidGeneratorGlobal({ datacenterId: 0 }),
  keyWorker: presets.keyWorker(),
  discord: presets.discord(),
  instagram: presets.instagram(),
  sonyflake: presets.sonyflake(),
  tsid: presets.tsid(),
} satisfies Record<keyof typeof presets, Layout>);

export type PresetName = keyof typeof namedPresets;

export const PRESET_NAMES = Object.keys(namedPresets) as PresetName[];

/** The plan of a layout that is there, for these workers. */
export function planOfLayout(layout: Layout, workers: WorkerRange = { min: 0, max: layout.maxWorkerId }): LayoutPlan {
  return planLayout({ layout, serviceMinWorkId: workers.min, serviceMaxWorkId: workers.max });
}

/** The example of the API description: the service's own layout. */
export const exampleOptions = { ...serviceLayout, expectedNodes: 20, expectedIdsPerSecond: 50_000 };

export const examplePlan = planLayout(exampleOptions, Date.parse('2026-11-21'));
