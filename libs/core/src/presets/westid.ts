import type { Layout } from '../layout/layout.js';
import { sequence, timestamp, worker } from './preset-fields.js';
import { presetLayout, type PresetOptions } from './preset-layout.js';

/** 2017-03-24T09:04:43.706Z. */
const WESTID_EPOCH_MS = 1_490_346_283_706;

/**
 * The IDs of westid: 41 bits of milliseconds, worker 10, sequence 12. Until 2086-11-29.
 * @throws ConfigurationError naming every option that is wrong
 */
export function westid(options: PresetOptions = {}): Layout {
  const fields = [timestamp(41), worker(10), sequence(12)];
  return presetLayout(options, { unitMs: 1, epochMs: WESTID_EPOCH_MS, fields });
}
