import { integer, type Numbers, type OptionsOf, type ReadOptions, share } from '../config/option-rules.js';

/** The options of every prefetcher, besides `prefetchBelow`. Times are in ms. */
export const prefetcherOptions = {
  /** The largest batch that a call may ask for. @range 1-10,000,000 @defaultValue 100,000 */
  maxBatch: integer({ min: 1, max: 10_000_000, default: 100_000, readBy: 'everyService' }),
  /** How long an async call without a `timeoutMs` of its own waits. @range 1-86,400,000 @defaultValue 3,000 */
  asyncTimeoutMs: integer({ min: 1, max: 86_400_000, default: 3_000, readBy: 'everyService' }),
  /** How long one call to the store, or to the other service, may take. @range 10-60,000 @defaultValue 3,000 */
  opTimeoutMs: integer({ min: 10, max: 60_000, default: 3_000, readBy: 'ownWorkerOrNumbers' }),
  /**
   * The pause after a failed call. It doubles with every further failure, with jitter.
   * @range 1-60,000 @defaultValue 50
   */
  retryBaseMs: integer({ min: 1, max: 60_000, default: 50, readBy: 'numbers' }),
  /**
   * The longest pause, and the pause before the service asks again for a code that is unknown or used up.
   * @range `retryBaseMs` to 600,000 @defaultValue 5,000
   */
  retryMaxMs: integer({
    min: ({ retryBaseMs }: Numbers<'retryBaseMs'>) => retryBaseMs,
    max: 600_000,
    default: ({ retryBaseMs }: Numbers<'retryBaseMs'>) => Math.max(retryBaseMs, 5_000),
    hint: 'at least retryBaseMs',
    readBy: 'numbers',
  }),
};

/** The options of every prefetcher, checked and complete. */
export interface PrefetcherOptions extends ReadOptions<typeof prefetcherOptions> {
  /** The next IDs are fetched when less than this share of a fetch is left, 0-1. */
  readonly prefetchBelow: number;
}

/** The options of prefetching: how IDs are fetched ahead of need, and handed out. */
export const prefetchOptions = {
  /** Fetch the next batch when less than this share of a batch is left. @range 0-1 @defaultValue 0.5 */
  prefetchBelow: share({ default: 0.5, of: 'a batch' }),
  /** The smallest batch, and the first one. @range 1-10,000 @defaultValue 64 */
  minStep: integer({ min: 1, max: 10_000, default: 64 }),
  /** Batches grow up to this many IDs while they are used up fast. @range `minStep` to 10,000 @defaultValue 10,000 */
  maxStep: integer({
    min: ({ minStep }: Numbers<'minStep'>) => minStep,
    max: 10_000,
    default: 10_000,
    hint: 'at least minStep',
  }),
  /**
   * How long after its request an ID may be handed out, in ms. Later it is dropped, so its time is wrong by no more than
   * this.
   * @range 100-86,400,000 @defaultValue 10,000
   */
  maxAgeMs: integer({ min: 100, max: 86_400_000, default: 10_000 }),
  /** How many codes may be used. @range 1-1,000,000 @defaultValue 10,000 */
  maxCodes: integer({ min: 1, max: 1_000_000, default: 10_000 }),
  ...prefetcherOptions,
};

/** The options of prefetching: how IDs are fetched ahead of need, and handed out. Times are in ms. */
export interface PrefetchOptions extends OptionsOf<typeof prefetchOptions> {}

/** Those options, checked and complete. */
export interface ResolvedPrefetchOptions extends ReadOptions<typeof prefetchOptions> {}
