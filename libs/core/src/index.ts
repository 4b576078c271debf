export { RaindropError } from './raindrop-error.js';

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
export {
  readUsage,
  resolvedFor,
  type LayoutUsage,
  type ResolvedLayout,
  type WorkerRange,
} from './layout/layout-usage.js';
export type { LayoutUse, LayoutWarning } from './layout/layout-warnings.js';
export { parseId, type ParsedId } from './layout/parse-id.js';
export { ClockBeforeEpochError, InvalidPartError, TimestampOverflowError } from './layout/layout-errors.js';

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
  TooManyCodesError,
  UnknownCodeError,
} from './segment/segment-errors.js';
export type { SegmentPorts } from './segment/segment-ports.js';
export type { SegmentStatus, SegmentTally } from './segment/segment-status.js';
export { SegmentGenerator, type SegmentCounters } from './segment/segment-generator.js';

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
