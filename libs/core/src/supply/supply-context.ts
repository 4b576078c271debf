import type { ResolvedSupplyOptions } from './supply-options.js';
import type { SupplyPorts } from './supply-ports.js';
import type { FetchCounters } from './supply-status.js';

/** What the supplies of all codes share. */
export interface SupplyContext {
  readonly options: ResolvedSupplyOptions;
  readonly ports: SupplyPorts;
  /** Where all of them count together. */
  readonly counters: FetchCounters;
}
