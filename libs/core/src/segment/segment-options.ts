import { OptionReader } from '../config/option-reader.js';
import { readPrefetcherOptions } from '../prefetch/prefetcher-options.js';

/** The options say how many numbers a chain keeps at hand. */
export interface ChainOptions {
  /** How many segments, 1-1,000; more while callers find too few numbers. Default 2. */
  safeDistance?: number;
  /** How many numbers at most, 1-1,000,000,000. Default 4 x `maxStep`. */
  maxBuffered?: number;
}

/** The options of number sections: how the numbers of a code are fetched and handed out. */
export interface SegmentOptions {
  /**
   * The next segment is fetched when less than this share is left; with 0 not before a caller needs it.
   * @range 0-1
   * @defaultValue 0.9
   */
  prefetchBelow?: number;
  /**
   * The most that are reserved at once; a segment used up within 15 minutes doubles the next one, one that lasts
   * longer than 30 halves it, never below the row's step.
   * @range 1-100,000,000
   * @defaultValue 1,000,000
   */
  maxStep?: number;
  /**
   * Keep `safeDistance` (1-1,000, default 2) segments ahead in place of `prefetchBelow`: more while callers find too few,
   * up to `maxBuffered` (default 4 × `maxStep`) numbers, fewer when idle.
   * @range true, false, `{ safeDistance, maxBuffered }`
   * @defaultValue false
   */
  chain?: boolean | ChainOptions;
  /**
   * The code of calls that name none.
   * @range 1-128 characters
   * @defaultValue `default`
   */
  defaultCode?: string;
  /**
   * How many codes may be used; one more is refused, nothing is evicted.
   * @range 1-100,000
   * @defaultValue 10,000
   */
  maxCodes?: number;
  /**
   * The largest batch.
   * @range 1-10,000,000
   * @defaultValue 100,000
   */
  maxBatch?: number;
  /**
   * How long an async call waits when it names no `timeoutMs`.
   * @range 1-86,400,000
   * @defaultValue 3,000
   */
  asyncTimeoutMs?: number;
  /**
   * How long one call of the store may take.
   * @range 10-60,000
   * @defaultValue 3,000
   */
  opTimeoutMs?: number;
  /**
   * The pause after a failed reservation; it doubles with every further one, with jitter.
   * @range 1-60,000
   * @defaultValue 50
   */
  retryBaseMs?: number;
  /**
   * The longest pause, and the one before a code that is unknown or used up is asked for again.
   * @range `retryBaseMs` to 600,000
   * @defaultValue 5,000
   */
  retryMaxMs?: number;
}

/** Those options, checked and complete. */
export type ResolvedSegmentOptions = Readonly<Required<Omit<SegmentOptions, 'chain'>>> & {
  readonly chain: Readonly<Required<ChainOptions>> | undefined;
};

/**
 * Checks segment options and fills in the defaults.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveSegmentOptions(options: SegmentOptions = {}): ResolvedSegmentOptions {
  const reader = new OptionReader(options);
  const resolved = readSegmentOptions(reader);
  reader.finish();
  return resolved;
}

/** Reads the segment options with a reader that others share. */
export function readSegmentOptions(reader: OptionReader): ResolvedSegmentOptions {
  const maxStep = reader.integer('maxStep', { min: 1, max: 100_000_000, default: 1_000_000 });
  return Object.freeze({
    maxStep,
    chain: readChain(reader, maxStep),
    defaultCode: reader.string('defaultCode', {
      fallback: 'default',
      pattern: /^[^]{1,128}$/,
      legal: 'a text of 1 to 128 characters',
    }),
    maxCodes: reader.integer('maxCodes', { min: 1, max: 100_000, default: 10_000 }),
    ...readPrefetcherOptions(reader, { default: 0.9, of: 'the step' }),
  });
}

function readChain(reader: OptionReader, maxStep: number): ResolvedSegmentOptions['chain'] {
  const given = reader.value('chain');
  if (given === undefined || given === false) return undefined;
  if (given !== true && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    reader.problem('chain', given, 'must be true, false or { safeDistance, maxBuffered }');
    return undefined;
  }
  return reader.nested('chain', given === true ? {} : given, (inner) =>
    Object.freeze({
      safeDistance: inner.integer('safeDistance', { min: 1, max: 1_000, default: 2 }),
      maxBuffered: inner.integer('maxBuffered', { min: 1, max: 1_000_000_000, default: 4 * maxStep }),
    }),
  );
}
