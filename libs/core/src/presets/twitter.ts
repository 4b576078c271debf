import type { Layout } from '../layout/layout.js';
import { sequence, timestamp, worker } from './preset-fields.js';
import { presetLayout, type PresetOptions } from './preset-layout.js';

/** 2010-11-04T01:42:54.657Z, of the snowflake server that Twitter published in 2010; KeyWorker's was meant to be it. */
export const TWITTER_EPOCH_MS = 1_288_834_974_657;

/**
 * Twitter's snowflakes: 41 bits of milliseconds, data centre 5, machine 5, sequence 12. Data centre and machine are one
 * worker number, `dataCentre * 32 + machine`. Until 2080-07-10.
 * @throws ConfigurationError naming every option that is wrong
 */
export function twitter(options: PresetOptions = {}): Layout {
  const fields = [timestamp(41), worker(5, 'datacenter'), worker(5, 'machine'), sequence(12)];
  return presetLayout(options, { unitMs: 1, epochMs: TWITTER_EPOCH_MS, fields });
}
