/**
 * What the other Raindrop packages need of the engine. It is not for applications: names come and go without notice.
 *
 * @module @raindrop/core/internal
 */

export { OptionReader } from './config/option-reader.js';
export { Timeline } from './time/timeline.js';
export { wallClock } from './time/wall-clock.js';
export { readLayout, resolveLayout } from './layout/layout-options.js';
export { BIT_OPTIONS, namesNoLayout, readAnyLayout } from './layout/any-layout.js';
export { DEFAULT_LAYOUT, LASTING_LAYOUT, numberLayout } from './layout/named-layouts.js';
export { shapeOfFingerprint } from './layout/fingerprint.js';
export { layoutOfAnyCopy } from './layout/layout-of-any-copy.js';
export { processWide } from './copies/process-wide.js';
export { judgeLayouts } from './lease/layout-conflicts.js';
export { refuseOutsideLife } from './layout/outside-life.js';
export { StaticTenure } from './generator/static-tenure.js';
export { readGeneratorOptions, resolveGeneratorOptions } from './generator/generator-options.js';
export { SnowflakeGenerator } from './generator/snowflake-generator.js';
export { MAX_ID } from './codec/max-id.js';
export { toUnsignedId } from './codec/to-unsigned-id.js';
export { parseDecimal } from './codec/decimal.js';
export { base32Check } from './codec/base32.js';
export { base62LowerFirst } from './codec/base62.js';
export { FENCE_LEAP, HELD_TOO } from './lease/worker-store.js';
export { MemoryWorkerStore, MemoryWorkerTable } from './lease/memory-worker-store.js';
export { readLeaseOptions, resolveLeaseOptions } from './lease/lease-options.js';
export { isHeld } from './lease/liveness.js';
export { reachOf, sessionAgesOf, type SessionAges } from './lease/reach.js';
export {
  FENCED_EPOCHS_MS,
  fencedState,
  FormerPrimaryError,
  judgeServer,
  raisedTo,
  type BelievedServer,
  type ServerVerdict,
  type StoreTerm,
} from './lease/store-term.js';
export { ForeignRowsError, ForeignTimeZoneError } from './lease/foreign-errors.js';
export {
  ClockSkewError,
  DatabaseRegressionError,
  LayoutConflictError,
  LeaseLostError,
  LeaseSuspectError,
  NoFreeWorkerError,
  NotReadyError,
  StoreUnavailableError,
} from './lease/lease-errors.js';
export { StoreSession } from './lease/store-session.js';
export { chooseLayout, type LayoutChoice } from './lease/layout-choice.js';
export { findLayout, withFoundLayout } from './lease/find-layout.js';
export { UnclearLayoutError, type RememberedLayout } from './lease/unclear-layout-error.js';
export { LeaseKeeper } from './lease/lease-keeper.js';
export { NoWorkerIdError, WorkerIdAssignerError } from './worker-id/worker-id-errors.js';
export { RestartWait } from './worker-id/restart-wait.js';
export { AssignerCalls } from './worker-id/assigner-calls.js';
export { machineProcessWorkerId, machineText } from './worker-id/machine-process-id.js';
export { AssignedIdKeeper } from './worker-id/assigned-id-keeper.js';
export { atomicChanges } from './ring/word-changes.js';
export { RingClosedError, RingEmptyError, RingFailedError, RingProducerLostError } from './ring/ring-errors.js';
export { SharedIdRing } from './ring/shared-id-ring.js';
export { SharedIds } from './ring/shared-ids.js';
export { MemorySegmentStore, MemorySegmentTable } from './segment/memory-segment-store.js';
export { readSegmentOptions, resolveSegmentOptions } from './segment/segment-options.js';
export {
  SegmentExhaustedError,
  SegmentNotReadyError,
  SegmentRegressionError,
  SegmentStoreUnavailableError,
  UnknownCodeError,
} from './segment/segment-errors.js';
export { TooManyCodesError } from './supply/supply-errors.js';
export { SegmentGenerator } from './segment/segment-generator.js';
export { readPrefetchOptions, resolvePrefetchOptions } from './prefetch/prefetch-options.js';
export { IdsNotReadyError, IdSourceUnavailableError, InvalidIdBatchError } from './prefetch/prefetch-errors.js';
export { PrefetchedIds } from './prefetch/prefetched-ids.js';
export { SHARDS, shardOf } from './segment/sharded/gate-pass.js';
export { checkApp, MAX_APP, MAX_INDEX } from './segment/sharded/sharded-id.js';
export { MemoryAppSegmentStore, MemoryAppSegmentTable } from './segment/sharded/memory-app-segment-store.js';
export {
  InvalidAppError,
  InvalidGatePassError,
  NoShardedIdLeftError,
  ShardedIdsNotReadyError,
  UnknownAppError,
  UnknownShardError,
} from './segment/sharded/sharded-errors.js';
export { ShardedGenerator } from './segment/sharded/sharded-generator.js';
export { isCodecName } from './codec/codecs.js';
export { withDeadline } from './supply/deadline.js';
