import type { Layout } from '../layout/layout.js';
import { sequence, timestamp, worker } from './preset-fields.js';
import { presetLayout, type PresetOptions } from './preset-layout.js';

/**
 * 2011-08-24T21:07:01.721Z, from the function in Instagram's article; its prose says 1 January 2011, and the article's own
 * example (1,387,263,000 ms up to 9 September) as well as public media IDs prove the function right.
 */
const INSTAGRAM_EPOCH_MS = 1_314_220_021_721;

/**
 * Instagram's IDs, of 64 bits: 41 bits of milliseconds, logical shard 13, sequence 10. The shard is the worker. Reads up to
 * 2^64 - 1 (2081-04-30), issues up to 2^63 - 1: until 2046-06-27.
 * @throws ConfigurationError naming every option that is wrong
 */
export function instagram(options: PresetOptions = {}): Layout {
  const fields = [timestamp(41), worker(13, 'shard'), sequence(10)];
  return presetLayout(options, { unitMs: 1, epochMs: INSTAGRAM_EPOCH_MS, fields });
}
