/**
 * The engine, without dependencies: layouts, generators, codecs, the worker lease over ports, segments, presets, short IDs,
 * the ring that threads share.
 *
 * @module @raindrop/core
 */

export { RaindropError } from './raindrop-error.js';
export { showValue } from './show-value.js';

export { ConfigurationError, type ConfigurationProblem, type IntegerRule } from './config/option-reader.js';

export type {
  Clock,
  MonotonicClock,
  Timer,
  Timers,
  Randomness,
  GeneratorPorts,
  PrefetcherPorts as SegmentPorts,
  PrefetchPorts,
} from './ports.js';
export { TIME_UNITS, type TimeUnit, type TimeUnitRule, type Timeline } from './time/timeline.js';

export {
  type Field,
  type FieldRole,
  type PlacedField,
  type LayoutShape,
  Layout,
  type LayoutParts,
  parseId,
  type ParsedId,
} from './layout/layout.js';
export {
  createLayout,
  type LayoutOptions,
  type LayoutUse,
  type LayoutWarning,
  type ReadyLayoutOptions,
  type ResolvedLayout,
  type WorkerRange,
} from './layout/layout-options.js';
export {
  planLayout,
  type LayoutPlan,
  type PlannedField,
  adviseLayout,
  type LayoutAdvice,
  type LayoutNeeds,
} from './layout/layout-advice.js';

export { ClockBeforeEpochError, InvalidPartError, TimestampOverflowError } from './layout/layout-errors.js';

export {
  recognizeId,
  type ForeignId,
  type IdReading,
  type Plausibility,
  type Recognition,
  type RecognitionOptions,
} from './recognition/recognize-id.js';
export type { WrittenForm } from './recognition/written-ids.js';

export {
  presets,
  type PresetOptions,
  type TsidOptions,
  type UidGeneratorGlobalOptions,
  type UidGeneratorOptions,
  parseKeyWorkerId,
} from './presets/presets.js';
export { uidJson, type UidJsonOptions } from './presets/uid-json.js';

export type { Lane, PerLane, Position, Tenure } from './generator/tenure.js';

export type { GeneratorOptions, ResolvedGeneratorOptions } from './generator/generator-options.js';
export type { SnowflakeGenerator, GeneratorCounters } from './generator/snowflake-generator.js';
export type { BoundIdCalls, IdCalls } from './generator/id-calls.js';
export type { IssuedByCode, IssuedByCodeOptions, IssuedCounts } from './generator/issued-counts.js';
export type { AbortSignalLike } from './async.js';
export type { WaitOptions } from './generator/waiting.js';
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

export { InvalidIdError, type IdCodec } from './codec/id-codec.js';
export { UnsafeSnowflakeError } from './codec/id-form.js';
export { toId, type IdLike, compareIds } from './codec/to-id.js';
export {
  type RadixCodec,
  decimal,
  hex,
  base32,
  type CrockfordCodec,
  base36,
  base58,
  base62,
  base64url,
  codecs,
  type CodecName,
} from './codec/codecs.js';
export { typedId, type TypedId, type TypedIdCodec } from './codec/typed-id.js';
export type { IdTextOptions, ParsedIdForm } from './codec/id-text.js';
export { idSchema, type IdSchema, type IdSchemaOptions, type StandardIdSchema } from './codec/id-schema.js';

export {
  type FenceRequest,
  type ServedAlone,
  type KnownLayouts,
  type Odometer,
  type SampleRequest,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
  sampleRows,
  unusedRow,
  writtenRow,
  LeaseWatch,
} from './lease/worker-store.js';
export { ClockBehindError, fencedTable } from './lease/fence.js';
export { FormerPrimaryError } from './lease/failover-guard.js';
export { UnclearLayoutError } from './lease/layout-choice.js';

export type { LeaseOptions, ResolvedLeaseOptions } from './lease/lease-options.js';

export {
  ClockSkewError,
  ClosedError,
  DatabaseRegressionError,
  ForeignRowsError,
  ForeignTimeZoneError,
  LayoutConflictError,
  LeaseLostError,
  LeaseSuspectError,
  NoFreeWorkerError,
  NoRowForPastError,
  NotReadyError,
  StoreUnavailableError,
  type WorkerCensus,
} from './lease/lease-errors.js';
export type { LeaseContext, LeaseIdentity, LeasePorts } from './lease/lease-context.js';
export { PastCopiedError, PastExhaustedError, type PastIds, TimeOrderError } from './lease/past-ids.js';
export type { LeaseEvent, LeaseStatus } from './lease/worker-keeper.js';

export {
  type AssignedWorkerId,
  NoWorkerIdError,
  type WorkerIdAssigner,
  WorkerIdAssignerError,
  type WorkerIdGuarantee,
  type WorkerIdRequest,
} from './worker-id/worker-id-assigner.js';

export { collisionOdds, type MachineAndProcess, type NetworkInterfaces } from './worker-id/machine-process-id.js';
export type { AssignedIdSetup } from './worker-id/assigned-worker-keeper.js';

export { shortIdLayout, parseShortId, type ParsedShortId, type ShortIdOptions } from './short-id/short-id.js';
export {
  ShortIdGenerator,
  type ShortIdPorts,
  type ShortIdSource,
  ShortIdRepeatError,
} from './short-id/short-id-generator.js';

export { createGenerator, type CreateGeneratorOptions, type UnsafeGenerator } from './zero-config/create-generator.js';

export type {
  ReservedSegment,
  Segment,
  SegmentRequest,
  SegmentSource,
  SegmentStore,
  App,
  AppSegmentStore,
} from './segment/segment-store.js';
export type { MemorySegmentOptions } from './segment/memory-segment-store.js';
export type { ChainOptions, ResolvedSegmentOptions, SegmentOptions } from './segment/segment-options.js';

export {
  SegmentExhaustedError,
  SegmentNotReadyError,
  SegmentRegressionError,
  SegmentStoreUnavailableError,
  UnknownCodeError,
} from './segment/segment-errors.js';
export type { ReservationCounters, SegmentStatus } from './segment/segment-policy.js';
export type { SegmentCounters } from './segment/segment-generator.js';
export {
  composeShardedId,
  InvalidShardedIdPartError,
  parseShardedId,
  type ShardedIdParts,
} from './segment/sharded/sharded-id.js';
export {
  InvalidAppError,
  InvalidGatePassError,
  NoShardedIdLeftError,
  ShardedIdsNotReadyError,
  UnknownAppError,
  UnknownShardError,
} from './segment/sharded/sharded-errors.js';
export type { ShardedIdRequest, ShardedIdsStatus } from './segment/sharded/sharded-generator.js';

export { TooManyCodesError } from './prefetch/buffered-generator.js';
export { IdsNotReadyError, IdSourceUnavailableError, InvalidIdBatchError } from './prefetch/prefetch-errors.js';
export type { IdBatchSource, BatchCounters, PrefetchStatus } from './prefetch/batch-policy.js';
export type { PrefetchOptions, ResolvedPrefetchOptions } from './prefetch/prefetch-options.js';
export type { PrefetchCounters } from './prefetch/prefetched-ids.js';

export { RingClosedError, RingEmptyError, RingFailedError, RingProducerLostError } from './ring/ring-errors.js';
export type { WordChanges, RingState } from './ring/ring-memory.js';
export type { RingPorts, PutRejection, SharedIdRingOptions, SharedIdsOptions } from './ring/ring-options.js';
export type { SharedIdRingHandle } from './ring/ring-handle.js';
export type { RingSource } from './ring/ring-filler.js';
export type { SharedIdRingStatus } from './ring/shared-id-ring.js';
export type { SharedIdsStatus } from './ring/shared-ids.js';
