/**
 * The parts of the engine for the other Raindrop packages. Not for applications: names change without notice.
 *
 * @module @raindrop/core/internal
 */

export { OptionReader } from './config/option-reader.js';
export { AUDIENCES, type Audience, type Origin } from './config/audiences.js';
export {
  boolean,
  handler,
  integer,
  type Numbers,
  oneOf,
  option,
  type OptionFacts,
  type OptionGroup,
  type OptionRule,
  type OptionsOf,
  type ReadOptions,
  readOptions,
  resolveOptions,
  share,
  switchable,
  text,
} from './config/option-rules.js';
export { wallClock } from './ports.js';
export { PermanentError, RetryableError, UnavailableError } from './raindrop-error.js';
export { backoffMs, Deadline, pause, withDeadline } from './async.js';
export {
  BIT_OPTIONS,
  layoutOptions,
  readyLayoutOptions,
  namesNoLayout,
  readAnyLayout,
  DEFAULT_LAYOUT,
  LASTING_LAYOUT,
  reportOutsideLife,
} from './layout/layout-options.js';
export { shapeOfFingerprint, layoutOfAnyCopy } from './layout/layout.js';
export { DAY_MS, daysUntil, isCoarse, parseEpoch } from './time/timeline.js';
export { processWide } from './copies.js';
export { judgeLayouts, chooseLayout, findLayout, withFoundLayout } from './lease/layout-choice.js';
export { generatorOptions, readGeneratorOptions } from './generator/generator-options.js';
export { SnowflakeGenerator } from './generator/snowflake-generator.js';
export { largestIdOf, MAX_ID } from './codec/id-codec.js';
export { IdForm, type IdProperty, type IdValue, readIdPrefix } from './codec/id-form.js';
export { isCodecName } from './codec/codecs.js';
export { requireCodec } from './codec/typed-id.js';
export {
  describeIdText,
  type HeldId,
  ID_FORMS,
  idText,
  type IdText,
  type IdTextOf,
  idTextOptions,
  type IdTextSchema,
  refuseLostCodec,
} from './codec/id-text.js';
export {
  DATABASE_CODE,
  INCLUDE_HELD,
  isHeld,
  isOfDatabase,
  readKeptRow,
  type KeptRow,
  type RowField,
} from './lease/worker-store.js';
export { MemoryWorkerStore, MemoryWorkerTable } from './lease/memory-worker-store.js';
export { leaseOptions, readLeaseOptions, resolveLeaseOptions } from './lease/lease-options.js';
export {
  FENCE_FAILOVERS_MS,
  FENCE_LEAP,
  fencedRow,
  fenceMs,
  type FenceTime,
  judgeFence,
  latestTimes,
  type LatestTimes,
  stateAfterFence,
} from './lease/fence.js';
export {
  aloneAfterLoss,
  barOf,
  believedFromMs,
  FailoverGuard,
  grantOf,
  judgeServer,
  layoutsLostUntilMs,
  MOST_LOOKS,
  raiseOdometersTo,
  type BelievedServer,
  type KnownServer,
  type Look,
  type ServerVerdict,
  type StoreTerm,
  type WrittenRow,
} from './lease/failover-guard.js';
export { grantReachMs, sessionAgesOf, type SessionAges } from './lease/grant-reach.js';
export { reservePast } from './lease/past-ids.js';
export {
  type BegunLease,
  findIssuingLease,
  holderWithoutMark,
  type IssuedPlace,
  type RecordedLease,
  type LeaseHistory,
  type IssuerVerdict,
} from './lease/lease-history.js';
export { StoreSession } from './lease/store-session.js';
export type { Worker } from './lease/worker-keeper.js';
export { StoreWorkerKeeper } from './lease/store-worker-keeper.js';
export { AssignerCalls } from './worker-id/worker-id-assigner.js';
export { machineProcessWorkerId, machineText } from './worker-id/machine-process-id.js';
export { AssignedWorkerKeeper, RestartWait } from './worker-id/assigned-worker-keeper.js';
export {
  MemoryAppSegmentStore,
  MemoryAppSegmentTable,
  MemorySegmentStore,
  MemorySegmentTable,
} from './segment/memory-segment-store.js';
export { boundsOfCode, boundsOfShard, type SegmentBounds } from './segment/segment-store.js';
export { segmentOptions } from './segment/segment-options.js';
export { SegmentGenerator } from './segment/segment-generator.js';
export { SHARDS, checkApp, MAX_APP, MAX_INDEX } from './segment/sharded/sharded-id.js';
export { ShardedGenerator } from './segment/sharded/sharded-generator.js';
export { prefetchOptions } from './prefetch/prefetch-options.js';
export { PrefetchedIds } from './prefetch/prefetched-ids.js';
export { atomicChanges } from './ring/ring-memory.js';
export { SharedIdRing } from './ring/shared-id-ring.js';
export { SharedIds } from './ring/shared-ids.js';
