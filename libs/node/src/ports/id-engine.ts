import type { EventEmitter } from 'node:events';
import {
  type BoundIdCalls,
  type GeneratorCounters,
  type IdCalls,
  type IssuedByCode,
  type IssuedByCodeOptions,
  type Layout,
  type LeaseEvent,
  type LeaseStatus,
  RaindropError,
  type ResolvedGeneratorOptions,
  type SegmentCounters,
  type SegmentStatus,
  type ShardedIdsStatus,
  type WaitOptions,
} from '@raindrop/core';
import type { ShardedGenerator } from '@raindrop/core/internal';
import type { WorkerGuarantee } from './worker.js';

/** Stands behind a service: snowflakes of a worker, or numbers from segments. */
export interface IdEngine {
  /** The generator itself, without a layer between: each costs a nanosecond. */
  readonly calls: IdCalls;
  /** Of snowflakes only. */
  readonly layout: Layout | undefined;
  /** Of segments, when they were asked for. */
  readonly sharded: ShardedGenerator | undefined;
  /** Emits the engine's events here, from now on. */
  tell(events: EventEmitter): void;
  /** What the service says of itself. */
  status(service: string): IdServiceStatus;
  /** What was granted before is not used any more. */
  afterRestore(): void;
  /** Gives back what is held. Never rejects. */
  close(): Promise<void>;
}

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

/** A source is told what the service is to be like whose IDs it makes. */
export interface SourcedService {
  readonly name: string;
  /** What the options say; undefined when they say nothing, and the other process is to tell its own. */
  readonly layout: Layout | undefined;
  readonly generator: Pick<ResolvedGeneratorOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'>;
}

/** Another process that makes a service's IDs, in the place of a worker id of its own. */
export interface IdSource {
  /** For errors and the log. */
  readonly name: string;
  /** Settles when IDs are at hand. @throws what keeps them from coming */
  open(service: SourcedService): Promise<IdEngine>;
}

/** Passes the calls for IDs on to a generator; each does what {@link IdCalls} says. */
export abstract class IssuingCalls implements IdCalls {
  constructor(protected readonly calls: IdCalls) {}

  nextId(code?: string): bigint {
    return this.calls.nextId(code);
  }

  nextString(code?: string): string {
    return this.calls.nextString(code);
  }

  nextNumber(code?: string): number {
    return this.calls.nextNumber(code);
  }

  nextIds(count: number, code?: string): bigint[] {
    return this.calls.nextIds(count, code);
  }

  nextStrings(count: number, code?: string): string[] {
    return this.calls.nextStrings(count, code);
  }

  fill(target: BigInt64Array, code?: string): BigInt64Array {
    return this.calls.fill(target, code);
  }

  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.calls.nextIdAsync(code, wait);
  }

  nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return this.calls.nextStringAsync(code, wait);
  }

  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.calls.nextIdsAsync(count, code, wait);
  }

  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.calls.nextStringsAsync(count, code, wait);
  }

  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.calls.fillAsync(target, code, wait);
  }

  forCode(code: string): BoundIdCalls {
    return this.calls.forCode(code);
  }

  refusal(code?: string): RaindropError | undefined {
    return this.calls.refusal(code);
  }

  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.calls.issuedByCode(options);
  }
}

/** Numbers from segments have no bits to look at: they say nothing but their order. */
export class NoLayoutError extends RaindropError {
  readonly errorCode = 'NO_LAYOUT';

  constructor(readonly service: string) {
    super(`The service '${service}' issues numbers from segments (idMode 'numberSection'), which have no layout.`, {
      retryable: false,
    });
  }
}

/** Sharded IDs were asked of a service that was not set up for them. */
export class NoShardedIdsError extends RaindropError {
  readonly errorCode = 'NO_SHARDED_IDS';

  constructor(readonly service: string) {
    super(`The service '${service}' has no sharded IDs: give it idMode: 'numberSection' and sharded: true.`, {
      retryable: false,
    });
  }
}
