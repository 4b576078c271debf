import { OptionReader } from '../config/option-reader.js';
import { readPrefetcherOptions } from './prefetcher-options.js';

/** The options of prefetching: how IDs are fetched ahead of need, and handed out. */
export interface PrefetchOptions {
  /** The next batch is fetched when less than this share of a batch is left, 0-1. Default 0.5. */
  prefetchBelow?: number;
  /** The smallest batch, 1-10,000, and the first one. Default 64. */
  minStep?: number;
  /** Batches grow up to this many IDs while they are used up fast, `minStep`-10,000. Default 10,000. */
  maxStep?: number;
  /**
   * How long after the request for it an ID may be handed out; later it is dropped. So its time is wrong by no more than
   * that. 100-86,400,000 ms, default 10,000.
   */
  maxAgeMs?: number;
  /** How many codes may be used, 1-1,000,000. Default 10,000. */
  maxCodes?: number;
  /** The largest batch that a call may ask for, 1-10,000,000. Default 100,000. */
  maxBatch?: number;
  /** How long an async call waits when it names no `timeoutMs`. 1-86,400,000 ms, default 3,000. */
  asyncTimeoutMs?: number;
  /** How long an attempt may take; an answer that comes later is not used. 10-60,000 ms, default 3,000. */
  opTimeoutMs?: number;
  /** The pause after a first failure, 1-60,000 ms; it doubles with every further one. Default 50. */
  retryBaseMs?: number;
  /** The longest pause, `retryBaseMs`-600,000 ms. Default 5,000. */
  retryMaxMs?: number;
}

/** Those options, checked and complete. */
export type ResolvedPrefetchOptions = Readonly<Required<PrefetchOptions>>;

/**
 * Checks all options at once.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolvePrefetchOptions(options: PrefetchOptions = {}): ResolvedPrefetchOptions {
  const reader = new OptionReader(options);
  const resolved = readPrefetchOptions(reader);
  reader.finish();
  return resolved;
}

/** Reads the prefetch options with a reader that others share. */
export function readPrefetchOptions(reader: OptionReader): ResolvedPrefetchOptions {
  const minStep = reader.integer('minStep', { min: 1, max: 10_000, default: 64 });
  return Object.freeze({
    minStep,
    maxStep: reader.integer('maxStep', { min: minStep, max: 10_000, default: 10_000, hint: 'at least minStep' }),
    maxAgeMs: reader.integer('maxAgeMs', { min: 100, max: 86_400_000, default: 10_000 }),
    maxCodes: reader.integer('maxCodes', { min: 1, max: 1_000_000, default: 10_000 }),
    ...readPrefetcherOptions(reader, { default: 0.5, of: 'a batch' }),
  });
}
