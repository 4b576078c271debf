import type { SupplyContext } from '../supply/supply-context.js';
import type { IdBatchSource } from './id-batch-source.js';
import type { ResolvedPrefetchOptions } from './prefetch-options.js';
import type { PrefetchPorts } from './prefetch-ports.js';
import type { BatchCounters } from './prefetch-status.js';

/** What the supplies of all codes share. */
export interface PrefetchContext extends SupplyContext {
  readonly source: IdBatchSource;
  readonly options: ResolvedPrefetchOptions;
  readonly ports: PrefetchPorts;
  readonly counters: BatchCounters;
}
