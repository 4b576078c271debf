import type { OptionReader } from '../config/option-reader.js';

/** The options of every prefetcher, checked and complete. */
export interface PrefetcherOptions {
  /** The next IDs are fetched when less than this share of a fetch is left, 0-1. */
  readonly prefetchBelow: number;
  readonly maxBatch: number;
  readonly asyncTimeoutMs: number;
  readonly opTimeoutMs: number;
  readonly retryBaseMs: number;
  readonly retryMaxMs: number;
}

/** Reads the options of a prefetcher. @param share the default of `prefetchBelow`, and of what it is a share */
export function readPrefetcherOptions(
  reader: OptionReader,
  share: { readonly default: number; readonly of: string },
): PrefetcherOptions {
  const retryBaseMs = reader.integer('retryBaseMs', { min: 1, max: 60_000, default: 50 });
  return {
    prefetchBelow: reader.share('prefetchBelow', share),
    maxBatch: reader.integer('maxBatch', { min: 1, max: 10_000_000, default: 100_000 }),
    asyncTimeoutMs: reader.integer('asyncTimeoutMs', { min: 1, max: 86_400_000, default: 3_000 }),
    opTimeoutMs: reader.integer('opTimeoutMs', { min: 10, max: 60_000, default: 3_000 }),
    retryBaseMs,
    retryMaxMs: reader.integer('retryMaxMs', {
      min: retryBaseMs,
      max: 600_000,
      default: Math.max(retryBaseMs, 5_000),
      hint: 'at least retryBaseMs',
    }),
  };
}
