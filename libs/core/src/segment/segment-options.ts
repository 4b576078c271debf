import { OptionReader } from '../config/option-reader.js';

/** How many numbers a chain keeps at hand. */
export interface ChainOptions {
  /** So many segments, 1-1,000; more while callers starve. Default 2. */
  safeDistance?: number;
  /** Never more numbers than these, 1-1,000,000,000. Default 4 x `maxStep`. */
  maxBuffered?: number;
}

/** How the numbers of a code are fetched and handed out. */
export interface SegmentOptions {
  /**
   * The next segment is fetched when less than this share of the step is left, 0-1; with 0 not before a caller needs it.
   * Default 0.9.
   */
  prefetchBelow?: number;
  /** The step grows up to this many numbers while segments are used up fast, 1-100,000,000. Default 1,000,000. */
  maxStep?: number;
  /** Keep whole segments ahead, in place of `prefetchBelow`; `true` for the defaults. Default false. */
  chain?: boolean | ChainOptions;
  /** The code of calls that name none. Default `default`. */
  defaultCode?: string;
  /** How many codes may be used, 1-100,000. Default 10,000. */
  maxCodes?: number;
  /** The largest batch, 1-10,000,000. Default 100,000. */
  maxBatch?: number;
  /** How long an async call waits when it names no `timeoutMs`. 1-86,400,000 ms, default 3,000. */
  asyncTimeoutMs?: number;
  /** After so long a call of the store counts as failed, 10-60,000 ms. Default 3,000. */
  opTimeoutMs?: number;
  /** The pause after a first failure, 1-60,000 ms; it doubles with every further one. Default 50. */
  retryBaseMs?: number;
  /**
   * The longest pause between attempts, and the one before a code that is unknown or used up is asked for again:
   * `retryBaseMs` to 600,000 ms. Default 5,000.
   */
  retryMaxMs?: number;
}

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
  const retryBaseMs = reader.integer('retryBaseMs', { min: 1, max: 60_000, default: 50 });
  return Object.freeze({
    prefetchBelow: readShare(reader, 'prefetchBelow', 0.9),
    maxStep,
    chain: readChain(reader, maxStep),
    defaultCode: reader.string('defaultCode', {
      fallback: 'default',
      pattern: /^[^]{1,128}$/,
      legal: 'a text of 1 to 128 characters',
    }),
    maxCodes: reader.integer('maxCodes', { min: 1, max: 100_000, default: 10_000 }),
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
  });
}

function readShare(reader: OptionReader, name: string, fallback: number): number {
  const given = reader.value(name);
  if (given === undefined) return fallback;
  if (typeof given === 'number' && given >= 0 && given <= 1) return given;
  reader.problem(name, given, 'must be a number from 0 to 1: a share of the step');
  return fallback;
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
