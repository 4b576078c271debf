import {
  integer,
  type Numbers,
  type OptionsOf,
  type ReadOptions,
  share,
  switchable,
  text,
} from '../config/option-rules.js';
import { prefetcherOptions } from '../prefetch/prefetch-options.js';

/** How many numbers a chain keeps at hand. */
export const chainOptions = {
  /** How many segments; more while callers find too few numbers. @range 1-1,000 @defaultValue 2 */
  safeDistance: integer({ min: 1, max: 1_000, default: 2 }),
  /** How many numbers at most. @range 1-1,000,000,000 @defaultValue 4 × `maxStep` */
  maxBuffered: integer({
    min: 1,
    max: 1_000_000_000,
    default: ({ maxStep }: Numbers<'maxStep'>) => 4 * maxStep,
  }),
};

/** The options say how many numbers a chain keeps at hand. */
export interface ChainOptions extends OptionsOf<typeof chainOptions> {}

/** The options of number sections: how the numbers of a code are fetched and handed out. */
export const segmentOptions = {
  /**
   * Fetch the next segment when less than this share is left. With 0, fetch it when a caller needs it.
   * @range 0-1 @defaultValue 0.9
   */
  prefetchBelow: share({ default: 0.9, of: 'the step', readBy: 'numbers' }),
  /**
   * The most numbers that one reservation takes. A segment used up within 15 minutes doubles the next one; a segment that
   * lasts longer than 30 minutes halves it, but never below the row's step.
   * @range 1-100,000,000 @defaultValue 1,000,000
   */
  maxStep: integer({ min: 1, max: 100_000_000, default: 1_000_000, readBy: 'numbers' }),
  /**
   * Keep `safeDistance` segments (1-1,000, default 2) in reserve, instead of `prefetchBelow`. The reserve grows while
   * callers find too few numbers, up to `maxBuffered` numbers (default 4 × `maxStep`), and shrinks when idle.
   * @range true, false, `{ safeDistance, maxBuffered }` @defaultValue false
   */
  chain: switchable(chainOptions, { readBy: 'numbers' }),
  /** The code of calls without a code. @range 1-128 characters @defaultValue `default` */
  defaultCode: text({
    pattern: /^[^]{1,128}$/,
    legal: 'a string of 1 to 128 characters',
    default: 'default',
    readBy: 'numbers',
  }),
  /**
   * How many codes may be used. A further code is refused; none is evicted.
   * @range 1-100,000 @defaultValue 10,000
   */
  maxCodes: integer({ min: 1, max: 100_000, default: 10_000, readBy: 'everyService' }),
  ...prefetcherOptions,
};

/** The options of number sections: how the numbers of a code are fetched and handed out. */
export interface SegmentOptions extends OptionsOf<typeof segmentOptions> {}

/** Those options, checked and complete. */
export interface ResolvedSegmentOptions extends ReadOptions<typeof segmentOptions> {}
