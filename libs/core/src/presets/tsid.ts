import type { OptionReader } from '../config/option-reader.js';
import type { Field } from '../layout/field.js';
import type { Layout } from '../layout/layout.js';
import { sequence, timestamp, worker } from './preset-fields.js';
import { presetLayout, type PresetOptions } from './preset-layout.js';

export interface TsidOptions extends PresetOptions {
  /** Bits of the node, 0-20; the counter has the rest of 22. Default 10, as in the original. */
  nodeBits?: number;
}

/** 2020-01-01T00:00:00Z. */
const TSID_EPOCH_MS = 1_577_836_800_000;

/**
 * TSIDs, of 64 bits: 42 bits of milliseconds, node and counter 22 together. Reads up to 2^64 - 1 (2159-05-15), issues up
 * to 2^63 - 1: until 2089-09-06.
 * @throws ConfigurationError naming every option that is wrong
 */
export function tsid(options: TsidOptions = {}): Layout {
  return presetLayout(options, { unitMs: 1, epochMs: TSID_EPOCH_MS, fields: readFields });
}

function readFields(reader: OptionReader): readonly Field[] {
  const hint = 'node and counter are 22 bits together';
  const nodeBits = reader.integer('nodeBits', { min: 0, max: 20, default: 10, hint });
  return [timestamp(42), ...(nodeBits > 0 ? [worker(nodeBits, 'node')] : []), sequence(22 - nodeBits)];
}
