import { presets, type Layout } from '@raindrop/nestjs';

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
