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
  type RaindropError,
  type ResolvedGeneratorOptions,
  type SegmentCounters,
  type SegmentStatus,
  type ShardedIdsStatus,
  type WaitOptions,
} from '@raindrop/core';
import { PermanentError, type ShardedGenerator } from '@raindrop/core/internal';
import type { WorkerGuarantee } from './worker.js';

/** The engine of a service: a generator of snowflakes, or one of numbers from segments. */
export interface IdEngine {
  /** The generator itself: each layer before it would cost a nanosecond a call. */
  readonly calls: IdCalls;
  /** The layout of the IDs; undefined for numbers from segments. */
  readonly layout: Layout | undefined;
  /** Issues sharded IDs; undefined unless the option `sharded` asks for them. */
  readonly sharded: ShardedGenerator | undefined;
  /** Emits the engine's events on this emitter from now on. */
  emitTo(events: EventEmitter): void;
  /** The status at this moment. @param service the service's name */
  status(service: string): IdServiceStatus;
  /** To be called when this process's memory was restored from a snapshot: no ID granted before is issued any more. */
  afterRestore(): void;
  /** Gives back the worker id, and closes what was opened. Never rejects. */
  close(): Promise<void>;
}

/** The events of a service's worker, by name; `lease-lost` and `lease-regained` are those to alert on. */
export type IdServiceEvents = { [Event in LeaseEvent as Event['type']]: [event: Event] };

/** The status of a service at one moment; `idMode` tells its kind. */
export type IdServiceStatus = SnowflakeServiceStatus | SegmentServiceStatus;

/** The status of a service of snowflakes. */
export interface SnowflakeServiceStatus extends LeaseStatus {
  readonly service: string;
  readonly idMode: 'snowflake';
  /** Which assigner gave the worker id, and what is known of the id: `reserved` with a lease. */
  readonly assigner: string;
  readonly guarantee: WorkerGuarantee;
  readonly fingerprint: string;
  /** When the layout's timestamps run out; null when that is later than a Date can hold, in the year 275760. */
  readonly expiresAt: Date | null;
  /** Whole days until `expiresAt`; null when that is null. */
  readonly daysLeft: number | null;
  /**
   * IDs issued between the last two renewals, as a share of what the layout allows one code in that time; null before
   * the second renewal. See `docs/errors.md`.
   */
  readonly saturation: number | null;
  readonly counters: GeneratorCounters;
}

/** The status of a service of numbers from segments. */
export interface SegmentServiceStatus {
  readonly service: string;
  readonly idMode: 'numberSection';
  readonly state: 'ready' | 'closed';
  /** The codes in use, in the order of their first use. */
  readonly codes: readonly SegmentStatus[];
  /** The codes that the options name: the application cannot do without them. */
  readonly startCodes: readonly string[];
  /** Undefined without sharded IDs. */
  readonly sharded: ShardedIdsStatus | undefined;
  /** The error of a code whose last reservation failed; undefined when every code's last one succeeded. */
  readonly lastError: RaindropError | undefined;
  readonly counters: SegmentCounters;
}

/** The service for which a source makes IDs. */
export interface SourcedService {
  readonly name: string;
  /** The layout that the options name; undefined when they name none: then the other process tells its own. */
  readonly layout: Layout | undefined;
  readonly generator: Pick<ResolvedGeneratorOptions, 'maxCodes' | 'maxBatch' | 'asyncTimeoutMs'>;
}

/** Another process that makes a service's IDs, so that the service needs no worker id. */
export interface IdSource {
  /** For errors and the log. */
  readonly name: string;
  /** Settles when the first IDs are here. @throws the error that keeps them from coming */
  open(service: SourcedService): Promise<IdEngine>;
}

/** Passes the calls for IDs on to a generator; {@link IdCalls} says what each does. */
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

/** Numbers from segments have no layout: their bits say nothing. */
export class NoLayoutError extends PermanentError {
  static override readonly name = 'NoLayoutError';
  readonly errorCode = 'NO_LAYOUT';

  constructor(readonly service: string) {
    super(`The service '${service}' issues numbers from segments (idMode 'numberSection'), which have no layout.`);
  }
}

/** The options of this service ask for no sharded IDs. */
export class NoShardedIdsError extends PermanentError {
  static override readonly name = 'NoShardedIdsError';
  readonly errorCode = 'NO_SHARDED_IDS';

  constructor(readonly service: string) {
    super(`The service '${service}' has no sharded IDs: set idMode: 'numberSection' and sharded: true.`);
  }
}
