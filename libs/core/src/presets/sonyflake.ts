import type { Layout } from '../layout/layout.js';
import { sequence, timestamp, worker } from './preset-fields.js';
import { presetLayout, type PresetOptions } from './preset-layout.js';

/** 2014-09-01T00:00:00Z, of version 1; version 2 counts from 2025-01-01. */
const SONYFLAKE_EPOCH_MS = 1_409_529_600_000;

/**
 * Sonyflake's IDs: 39 bits of 10 ms, sequence 8, machine 16. The sequence lies above the machine. Until 2188-11-16.
 * @throws ConfigurationError naming every option that is wrong
 */
export function sonyflake(options: PresetOptions = {}): Layout {
  const fields = [timestamp(39), sequence(8), worker(16, 'machine')];
  return presetLayout(options, { unitMs: 10, epochMs: SONYFLAKE_EPOCH_MS, fields });
}
