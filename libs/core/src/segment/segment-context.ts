import type { ResolvedSegmentOptions } from './segment-options.js';
import type { SegmentPorts } from './segment-ports.js';
import type { SegmentTally } from './segment-status.js';

/** What the allocators of one generator share. */
export interface SegmentContext {
  readonly options: ResolvedSegmentOptions;
  readonly ports: SegmentPorts;
  /** Where all of them count together. */
  readonly tally: SegmentTally;
}
