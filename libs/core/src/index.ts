/**
 * The engine, without dependencies: layouts, generators, codecs, the worker lease over ports, segments, presets, short IDs,
 * the ring that threads share.
 *
 * @module @raindrop/core
 */

export { RaindropError } from './raindrop-error.js';
export { showValue } from './show-value.js';

export { ConfigurationError, type ConfigurationProblem } from './config/configuration-error.js';
export { OptionReader, type IntegerRule } from './config/option-reader.js';

export type { Clock, MonotonicClock } from './time/clock.js';
export type { Timer, Timers } from './time/timers.js';
export type { Randomness } from './time/randomness.js';
export { TIME_UNITS, type TimeUnit, type TimeUnitRule } from './time/time-unit.js';
export { Timeline } from './time/timeline.js';

export type { Field, FieldRole, PlacedField } from './layout/field.js';
export type { LayoutShape } from './layout/layout-shape.js';
export { Layout, type LayoutParts } from './layout/layout.js';
export { createLayout, readLayout, resolveLayout, type LayoutOptions } from './layout/layout-options.js';
export { BIT_OPTIONS, readAnyLayout, type ReadyLayoutOptions } from './layout/any-layout.js';
export type { ResolvedLayout, WorkerRange } from './layout/layout-usage.js';
export type { LayoutUse, LayoutWarning } from './layout/layout-warnings.js';
export { planLayout, type LayoutPlan, type PlannedField } from './layout/layout-plan.js';
export { shapeOfFingerprint } from './layout/fingerprint.js';
export { parseId, type ParsedId } from './layout/parse-id.js';
export { refuseOutsideLife } from './layout/outside-life.js';
export { ClockBeforeEpochError, InvalidPartError, TimestampOverflowError } from './layout/layout-errors.js';

export { presets } from './presets/presets.js';
export type { PresetOptions } from './presets/preset-layout.js';
export type { TsidOptions } from './presets/tsid.js';
export type { UidGeneratorGlobalOptions, UidGeneratorOptions } from './presets/uid-generator.js';
export { parseKeyWorkerId } from './presets/key-worker.js';
export { uidJson, type UidJsonOptions } from './presets/uid-json.js';

export type { Lane, PerLane, Position } from './generator/position.js';
export type { Tenure } from './generator/tenure.js';
export { StaticTenure } from './generator/static-tenure.js';
export {
  readGeneratorOptions,
  resolveGeneratorOptions,
  type GeneratorOptions,
  type ResolvedGeneratorOptions,
} from './generator/generator-options.js';
export { SnowflakeGenerator, type GeneratorCounters } from './generator/snowflake-generator.js';
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

export { MAX_ID } from './codec/max-id.js';
export { InvalidIdError } from './codec/invalid-id-error.js';
export { toId, type IdLike } from './codec/to-id.js';
export { toUnsignedId } from './codec/to-unsigned-id.js';
export { compareIds } from './codec/compare-ids.js';
export type { IdCodec } from './codec/id-codec.js';
export type { RadixCodec } from './codec/radix-codec.js';
export { decimal, parseDecimal } from './codec/decimal.js';
export { hex } from './codec/hex.js';
export { base32, base32Check, type CrockfordCodec } from './codec/base32.js';
export { base36 } from './codec/base36.js';
export { base58 } from './codec/base58.js';
export { base62, base62LowerFirst } from './codec/base62.js';
export { base64url } from './codec/base64url.js';
export { codecs, isCodecName, type CodecName } from './codec/codecs.js';
export { typedId, type TypedId, type TypedIdCodec } from './codec/typed-id.js';

export {
  FENCE_LEAP,
  HELD_TOO,
  type KnownLayouts,
  type Odometer,
  type SampleRequest,
  type WorkerRow,
  type WorkerSample,
  type WorkerStore,
  type WorkerTable,
  type WorkerWrite,
} from './lease/worker-store.js';
export { MemoryWorkerStore, MemoryWorkerTable } from './lease/memory-worker-store.js';
export {
  readLeaseOptions,
  resolveLeaseOptions,
  type LeaseOptions,
  type ResolvedLeaseOptions,
} from './lease/lease-options.js';
export { ForeignRowsError, ForeignTimeZoneError } from './lease/foreign-errors.js';
export {
  ClockSkewError,
  ClosedError,
  DatabaseRegressionError,
  LayoutConflictError,
  LeaseLostError,
  LeaseSuspectError,
  NoFreeWorkerError,
  NotReadyError,
  StoreUnavailableError,
  type WorkerCensus,
} from './lease/lease-errors.js';
export type { LeaseContext, LeaseIdentity, LeasePorts } from './lease/lease-context.js';
export type { LeaseEvent } from './lease/lease-events.js';
export type { LeaseStatus } from './lease/lease-status.js';
export { StoreSession } from './lease/store-session.js';
export { LeaseKeeper } from './lease/lease-keeper.js';

export type {
  AssignedWorkerId,
  WorkerIdAssigner,
  WorkerIdGuarantee,
  WorkerIdRequest,
} from './worker-id/worker-id-assigner.js';
export { NoWorkerIdError, WorkerIdAssignerError } from './worker-id/worker-id-errors.js';
export { RestartWait } from './worker-id/restart-wait.js';
export { AssignerCalls } from './worker-id/assigner-calls.js';
export { collisionOdds } from './worker-id/collision-odds.js';
export {
  machineProcessWorkerId,
  machineText,
  type MachineAndProcess,
  type NetworkInterfaces,
} from './worker-id/machine-process-id.js';
export { AssignedIdKeeper, type AssignedIdSetup } from './worker-id/assigned-id-keeper.js';

export { shortIdLayout } from './short-id/short-id-layout.js';
export { parseShortId, type ParsedShortId, type ShortIdOptions } from './short-id/short-id.js';
export { ShortIdGenerator, type ShortIdPorts, type ShortIdSource } from './short-id/short-id-generator.js';
export { ShortIdRepeatError } from './short-id/short-id-repeat-error.js';

export { createGenerator, type CreateGeneratorOptions } from './zero-config/create-generator.js';
export type { UnsafeGenerator } from './zero-config/unsafe-generator.js';

export { atomicChanges, type WordChanges } from './ring/word-changes.js';
export type { RingPorts } from './ring/ring-ports.js';
export type { PutRejection, SharedIdRingOptions, SharedIdsOptions } from './ring/ring-options.js';
export type { SharedIdRingHandle } from './ring/ring-handle.js';
export type { RingState } from './ring/ring-memory.js';
export type { RingSource } from './ring/ring-filler.js';
export { RingClosedError, RingEmptyError, RingFailedError, RingProducerLostError } from './ring/ring-errors.js';
export type { SharedIdRingStatus } from './ring/shared-id-ring-status.js';
export { SharedIdRing } from './ring/shared-id-ring.js';
export { SharedIds, type SharedIdsStatus } from './ring/shared-ids.js';

export type { ReservedSegment, Segment, SegmentRequest, SegmentSource, SegmentStore } from './segment/segment-store.js';
export type { App, AppSegmentStore } from './segment/app-segment-store.js';
export { MemorySegmentStore, MemorySegmentTable, type MemorySegmentOptions } from './segment/memory-segment-store.js';
export {
  readSegmentOptions,
  resolveSegmentOptions,
  type ChainOptions,
  type ResolvedSegmentOptions,
  type SegmentOptions,
} from './segment/segment-options.js';
export {
  SegmentExhaustedError,
  SegmentNotReadyError,
  SegmentRegressionError,
  SegmentStoreUnavailableError,
  UnknownCodeError,
} from './segment/segment-errors.js';
export type { SupplyPorts as SegmentPorts } from './supply/supply-ports.js';
export { TooManyCodesError } from './supply/supply-errors.js';
export type { ReservationCounters, SegmentStatus } from './segment/segment-status.js';
export { SegmentGenerator, type SegmentCounters } from './segment/segment-generator.js';

export type { IdBatchSource } from './prefetch/id-batch-source.js';
export {
  readPrefetchOptions,
  resolvePrefetchOptions,
  type PrefetchOptions,
  type ResolvedPrefetchOptions,
} from './prefetch/prefetch-options.js';
export { IdsNotReadyError, IdSourceUnavailableError, InvalidIdBatchError } from './prefetch/prefetch-errors.js';
export type { BatchCounters, PrefetchStatus } from './prefetch/prefetch-status.js';
export type { PrefetchPorts } from './prefetch/prefetch-ports.js';
export { PrefetchedIds, type PrefetchCounters } from './prefetch/prefetched-ids.js';

export { SHARDS, shardOf } from './segment/sharded/gate-pass.js';
export {
  checkApp,
  composeShardedId,
  InvalidShardedIdPartError,
  MAX_APP,
  MAX_INDEX,
  parseShardedId,
  type ShardedIdParts,
} from './segment/sharded/sharded-id.js';
export { MemoryAppSegmentStore, MemoryAppSegmentTable } from './segment/sharded/memory-app-segment-store.js';
export {
  InvalidAppError,
  InvalidGatePassError,
  NoShardedIdLeftError,
  ShardedIdsNotReadyError,
  UnknownAppError,
  UnknownShardError,
} from './segment/sharded/sharded-errors.js';
export { ShardedGenerator, type ShardedIdRequest, type ShardedIdsStatus } from './segment/sharded/sharded-generator.js';
