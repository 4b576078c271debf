import { integer, type Numbers, type OptionsOf, type ReadOptions, share } from '../config/option-rules.js';
import { prefetcherOptions } from '../supply/prefetcher-options.js';

/** The options of prefetching: how IDs are fetched ahead of need, and handed out. */
export const prefetchOptions = {
  /** The next batch is fetched when less than this share of a batch is left. @range 0-1 @defaultValue 0.5 */
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
   * How long after the request for it an ID may be handed out; later it is dropped. So its time is wrong by no more than
   * that, in ms.
   * @range 100-86,400,000
   * @defaultValue 10,000
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
