/**
 * The engine, without dependencies: layouts, generators, codecs, the worker lease over ports, segments, presets, short IDs,
 * the ring that threads share.
 *
 * @module @raindrop/core
 */

export { RaindropError } from './raindrop-error.js';
export { showValue } from './show-value.js';

export { ConfigurationError, type ConfigurationProblem } from './config/configuration-error.js';
export type { IntegerRule } from './config/option-reader.js';

export type { Clock, MonotonicClock } from './time/clock.js';
export type { Timer, Timers } from './time/timers.js';
export type { Randomness } from './time/randomness.js';
export { TIME_UNITS, type TimeUnit, type TimeUnitRule } from './time/time-unit.js';
export type { Timeline } from './time/timeline.js';

export type { Field, FieldRole, PlacedField } from './layout/field.js';
export type { LayoutShape } from './layout/layout-shape.js';
export { Layout, type LayoutParts } from './layout/layout.js';
export { createLayout, type LayoutOptions } from './layout/layout-options.js';
export type { ReadyLayoutOptions } from './layout/any-layout.js';
export type { ResolvedLayout, WorkerRange } from './layout/layout-usage.js';
export type { LayoutUse, LayoutWarning } from './layout/layout-warnings.js';
export { planLayout, type LayoutPlan, type PlannedField } from './layout/layout-plan.js';
export { adviseLayout, type LayoutAdvice } from './layout/layout-advice.js';
export type { LayoutNeeds } from './layout/layout-needs.js';

export { parseId, type ParsedId } from './layout/parse-id.js';

export { ClockBeforeEpochError, InvalidPartError, TimestampOverflowError } from './layout/layout-errors.js';

export {
  recognizeId,
  type IdReading,
  type Plausibility,
  type Recognition,
  type RecognitionOptions,
} from './recognition/recognize-id.js';
export type { ForeignId } from './recognition/foreign-id.js';
export type { WrittenForm } from './recognition/written-ids.js';

export { presets } from './presets/presets.js';
export type { PresetOptions } from './presets/preset-layout.js';
export type { TsidOptions } from './presets/tsid.js';
export type { UidGeneratorGlobalOptions, UidGeneratorOptions } from './presets/uid-generator.js';
export { parseKeyWorkerId } from './presets/key-worker.js';
export { uidJson, type UidJsonOptions } from './presets/uid-json.js';

export type { Lane, PerLane, Position } from './generator/position.js';
export type { Tenure } from './generator/tenure.js';

export type { GeneratorOptions, ResolvedGeneratorOptions } from './generator/generator-options.js';
export type { SnowflakeGenerator, GeneratorCounters } from './generator/snowflake-generator.js';
export type { BoundIdCalls, IdCalls } from './generator/id-calls.js';
export type { IssuedByCode, IssuedByCodeOptions, IssuedCounts } from './generator/issued-by-code.js';
export type { AbortSignalLike, WaitOptions } from './generator/waiting.js';
export type { GeneratorPorts } from './generator/generator-ports.js';
export {
  ClockMovedBackError,
  InvalidBatchError,
  InvalidCodeError,
  InvalidTimeoutError,
  ReservationExhaustedError,
  SequenceExhaustedError,
  UnsafeIntegerError,
  WaitTimeoutError,
} from './generator/generator-errors.js';

export { InvalidIdError } from './codec/invalid-id-error.js';
export { toId, type IdLike } from './codec/to-id.js';

export { compareIds } from './codec/compare-ids.js';
export type { IdCodec } from './codec/id-codec.js';
export type { RadixCodec } from './codec/radix-codec.js';
export { decimal } from './codec/decimal.js';
export { hex } from './codec/hex.js';
export { base32, type CrockfordCodec } from './codec/base32.js';
export { base36 } from './codec/base36.js';
export { base58 } from './codec/base58.js';
export { base62 } from './codec/base62.js';
export { base64url } from './codec/base64url.js';
export { codecs, type CodecName } from './codec/codecs.js';
export { typedId, type TypedId, type TypedIdCodec } from './codec/typed-id.js';

export type {
  KnownLayouts,
  Odometer,
  SampleRequest,
  WorkerRow,
  WorkerSample,
  WorkerStore,
  WorkerTable,
  WorkerWrite,
} from './lease/worker-store.js';
export { fencedRow, sampleRows, unusedRow, writtenRow } from './lease/worker-rows.js';
export { LeaseWatch } from './lease/lease-watch.js';

export type { LeaseOptions, ResolvedLeaseOptions } from './lease/lease-options.js';

export { ClosedError, type WorkerCensus } from './lease/lease-errors.js';
export type { LeaseContext, LeaseIdentity, LeasePorts } from './lease/lease-context.js';
export type { LeaseEvent } from './lease/lease-events.js';
export type { LeaseStatus } from './lease/lease-status.js';

export type {
  AssignedWorkerId,
  WorkerIdAssigner,
  WorkerIdGuarantee,
  WorkerIdRequest,
} from './worker-id/worker-id-assigner.js';

export { collisionOdds } from './worker-id/collision-odds.js';
export type { MachineAndProcess, NetworkInterfaces } from './worker-id/machine-process-id.js';
export type { AssignedIdSetup } from './worker-id/assigned-id-keeper.js';

export { shortIdLayout } from './short-id/short-id-layout.js';
export { parseShortId, type ParsedShortId, type ShortIdOptions } from './short-id/short-id.js';
export { ShortIdGenerator, type ShortIdPorts, type ShortIdSource } from './short-id/short-id-generator.js';
export { ShortIdRepeatError } from './short-id/short-id-repeat-error.js';

export { createGenerator, type CreateGeneratorOptions } from './zero-config/create-generator.js';
export type { UnsafeGenerator } from './zero-config/unsafe-generator.js';

export type { WordChanges } from './ring/word-changes.js';
export type { RingPorts } from './ring/ring-ports.js';
export type { PutRejection, SharedIdRingOptions, SharedIdsOptions } from './ring/ring-options.js';
export type { SharedIdRingHandle } from './ring/ring-handle.js';
export type { RingState } from './ring/ring-memory.js';
export type { RingSource } from './ring/ring-filler.js';

export type { SharedIdRingStatus } from './ring/shared-id-ring-status.js';

export type { SharedIdsStatus } from './ring/shared-ids.js';

export type { ReservedSegment, Segment, SegmentRequest, SegmentSource, SegmentStore } from './segment/segment-store.js';
export type { App, AppSegmentStore } from './segment/app-segment-store.js';
export type { MemorySegmentOptions } from './segment/memory-segment-store.js';
export type { ChainOptions, ResolvedSegmentOptions, SegmentOptions } from './segment/segment-options.js';

export type { SupplyPorts as SegmentPorts } from './supply/supply-ports.js';

export type { ReservationCounters, SegmentStatus } from './segment/segment-status.js';
export type { SegmentCounters } from './segment/segment-generator.js';

export type { IdBatchSource } from './prefetch/id-batch-source.js';
export type { PrefetchOptions, ResolvedPrefetchOptions } from './prefetch/prefetch-options.js';

export type { BatchCounters, PrefetchStatus } from './prefetch/prefetch-status.js';
export type { PrefetchPorts } from './prefetch/prefetch-ports.js';
export type { PrefetchCounters } from './prefetch/prefetched-ids.js';

export {
  composeShardedId,
  InvalidShardedIdPartError,
  parseShardedId,
  type ShardedIdParts,
} from './segment/sharded/sharded-id.js';

export type { ShardedIdRequest, ShardedIdsStatus } from './segment/sharded/sharded-generator.js';
