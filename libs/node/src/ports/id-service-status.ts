import type {
  GeneratorCounters,
  LeaseEvent,
  LeaseStatus,
  RaindropError,
  SegmentCounters,
  SegmentStatus,
  ShardedIdsStatus,
} from '@raindrop/core';
import type { WorkerGuarantee } from './worker.js';

/**
 * The events tell what happened to a service's worker, by name; `lease-lost` and `lease-regained` are those to alert
 * on.
 */
export type IdServiceEvents = { [Event in LeaseEvent as Event['type']]: [event: Event] };

/** A service at one moment; `idMode` tells which of the two it is. */
export type IdServiceStatus = SnowflakeServiceStatus | SegmentServiceStatus;

/** A service of snowflakes. */
export interface SnowflakeServiceStatus extends LeaseStatus {
  readonly service: string;
  readonly idMode: 'snowflake';
  /** Where the worker id comes from, and what is known of it: `reserved` is what a lease knows. */
  readonly assigner: string;
  readonly guarantee: WorkerGuarantee;
  readonly fingerprint: string;
  /** When the layout's timestamps run out; null when beyond what a Date can hold. */
  readonly expiresAt: Date | null;
  /** Whole days until then; null likewise. */
  readonly daysLeft: number | null;
  /** The load between the last two renewals, 1 is all that one code can have; null without any. See `docs/errors.md`. */
  readonly saturation: number | null;
  readonly counters: GeneratorCounters;
}

/** A service of numbers from segments. */
export interface SegmentServiceStatus {
  readonly service: string;
  readonly idMode: 'numberSection';
  readonly state: 'ready' | 'closed';
  /** The codes in use, in the order in which they came. */
  readonly codes: readonly SegmentStatus[];
  /** The codes that the options name: what the application cannot do without. */
  readonly startCodes: readonly string[];
  /** Undefined without sharded IDs. */
  readonly sharded: ShardedIdsStatus | undefined;
  /** Why the last reservation of some code failed; undefined when all of them succeeded. */
  readonly lastError: RaindropError | undefined;
  readonly counters: SegmentCounters;
}
