import type { Layout } from '../layout/layout.js';
import { sequence, timestamp, worker } from './preset-fields.js';
import { presetLayout, type PresetOptions } from './preset-layout.js';

/** 2015-01-01T00:00:00Z. */
const DISCORD_EPOCH_MS = 1_420_070_400_000;

/**
 * Discord's snowflakes, of 64 bits: 42 bits of milliseconds, worker 5, process 5, sequence 12. Worker and process are one
 * worker number, `worker * 32 + process`. Reads up to 2^64 - 1 (2154-05-15), issues up to 2^63 - 1: until 2084-09-06.
 * @throws ConfigurationError naming every option that is wrong
 */
export function discord(options: PresetOptions = {}): Layout {
  const fields = [timestamp(42), worker(5), worker(5, 'process'), sequence(12)];
  return presetLayout(options, { unitMs: 1, epochMs: DISCORD_EPOCH_MS, fields });
}
