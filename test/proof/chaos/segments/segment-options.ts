import type { FiredFault } from '../chaos-options.js';
import type { StageOptions } from '../chaos-stage.js';
import type { ChaosDatabaseKind, FaultGroup } from '../fault-plan.js';

export interface SegmentRunOptions extends StageOptions {
  readonly db: ChaosDatabaseKind;
  readonly processes: number;
  /** Numbers per second that a process asks for. */
  readonly rate: number;
  readonly pace: number;
  readonly faults: readonly FaultGroup[];
  readonly minNumbers: number;
  /** How often a fault must have fired at least; the others must have fired in a third of their attempts. */
  readonly floors: Partial<Readonly<Record<FiredFault, number>>>;
}
