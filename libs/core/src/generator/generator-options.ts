import { isCoarse } from '../time/timeline.js';
import { OptionReader } from '../config/option-reader.js';
import { integer, oneOf, type OptionsOf, type ReadOptions, readOptions } from '../config/option-rules.js';
import type { Layout } from '../layout/layout.js';

interface Unit {
  readonly unitMs: number;
}

/** The options of a generator: how it behaves at its edges. */
export const generatorOptions = {
  /**
   * What async calls do when the clock is behind both lanes and `maxHoldMs` is over: wait, or throw.
   * @range `wait`, `throw` @defaultValue `wait`
   */
  onClockBack: oneOf(['wait', 'throw'], { default: 'wait', readBy: 'ownWorker' }),
  /**
   * What happens when the sequence of a tick is used up: use the next tick ahead of the clock, wait for it, or throw.
   * Minute, hour and day do not support `borrow`.
   * @range `borrow`, `wait`, `throw` @defaultValue `borrow` for ms and s, else `throw`
   */
  onExhausted: oneOf(['borrow', 'wait', 'throw'], {
    default: (unit: Unit) => (isCoarse(unit) ? 'throw' : 'borrow'),
    readBy: 'ownWorker',
  }),
  /** How long a lane may stand still while the clock is behind it. @range 0-60,000 @defaultValue 3,000 */
  maxHoldMs: integer({ min: 0, max: 60_000, default: 3_000, readBy: 'ownWorker' }),
  /** How far ahead ticks may be borrowed; at least one tick. @range 0-60,000 @defaultValue 5 */
  maxAheadMs: integer({ min: 0, max: 60_000, default: 5, readBy: 'ownWorker' }),
  /**
   * Where the sequence of each new tick starts: at `zero`; with `continue` one after the last, until half the range is
   * used; with `random` in the lowest quarter. Minute, hour and day support only `zero`.
   *
   * At a low rate `zero` leaves nearly all IDs even. With `continue` they fall evenly into 2, 4 to 64 shards, with
   * `random` (8 sequence bits or more) into any number up to 64, even in a strict rhythm of one ID a tick.
   * @range `zero`, `continue`, `random` @defaultValue `zero`
   */
  sequenceStart: oneOf(['zero', 'continue', 'random'], { default: 'zero', readBy: 'ownWorker' }),
  /**
   * How many codes the service keeps. A further code replaces one and starts above its position, so no ID repeats. With
   * `idSource` it replaces a code without fetched IDs; if there is none, the call throws `TOO_MANY_CODES`.
   * @range 1-1,000,000 @defaultValue 10,000
   */
  maxCodes: integer({ min: 1, max: 1_000_000, default: 10_000, readBy: 'everyService' }),
  /** The largest batch that a call may ask for. @range 1-10,000,000 @defaultValue 100,000 */
  maxBatch: integer({ min: 1, max: 10_000_000, default: 100_000, readBy: 'everyService' }),
  /** How long an async call without a `timeoutMs` of its own waits. @range 1-86,400,000 @defaultValue 10,000 */
  asyncTimeoutMs: integer({ min: 1, max: 86_400_000, default: 10_000, readBy: 'everyService' }),
};

/** The options of a generator: how it behaves at its edges. */
export interface GeneratorOptions extends OptionsOf<typeof generatorOptions> {}

/** The options of a generator, checked and complete. */
export interface ResolvedGeneratorOptions extends ReadOptions<typeof generatorOptions> {}

/**
 * Checks generator options against a layout and fills in the defaults.
 * @throws ConfigurationError naming every option that is wrong
 */
export function resolveGeneratorOptions(options: GeneratorOptions, layout: Layout): ResolvedGeneratorOptions {
  const reader = new OptionReader(options);
  const resolved = readGeneratorOptions(reader, layout.unitMs);
  reader.finish();
  return resolved;
}

/** Reads the generator options with a reader that others share. */
export function readGeneratorOptions(reader: OptionReader, unitMs: number): ResolvedGeneratorOptions {
  const resolved = readOptions(reader, generatorOptions, { unitMs });
  const { onExhausted, sequenceStart } = resolved;
  if (isCoarse({ unitMs }) && onExhausted === 'borrow') {
    const message =
      `requires a unit of milliseconds or seconds: a tick of ${unitMs} ms is too long to borrow; use 'wait' or ` +
      `'throw'`;
    reader.problem('onExhausted', onExhausted, message);
  }
  if (isCoarse({ unitMs }) && sequenceStart !== 'zero') {
    const message = `must be 'zero' with a unit of minutes or longer, whose sequences are granted in blocks`;
    reader.problem('sequenceStart', sequenceStart, message);
  }
  return resolved;
}
