import type { IdBatchSource } from './id-batch-source.js';
import type { ResolvedPrefetchOptions } from './prefetch-options.js';
import type { PrefetchPorts } from './prefetch-ports.js';
import type { PrefetchTally } from './prefetch-status.js';

/** What the supplies of all codes share. */
export interface PrefetchContext {
  readonly source: IdBatchSource;
  readonly options: ResolvedPrefetchOptions;
  readonly ports: PrefetchPorts;
  /** Where all of them count together. */
  readonly tally: PrefetchTally;
}
