import { PermanentError, type RaindropError, RetryableError } from '../raindrop-error.js';
import { showValue } from '../show-value.js';

/** Every sequence of the tick is used, and the policy does not allow to go on; the next tick has new ones. */
export class SequenceExhaustedError extends RetryableError {
  static override readonly name = 'SequenceExhaustedError';
  readonly errorCode = 'SEQUENCE_EXHAUSTED';

  /**
   * @param availableAt when the next tick begins, by the wall clock.
   * @param advice what the caller can do instead of taking a layout with more sequence bits
   */
  constructor(
    readonly tick: number,
    readonly availableAt: Date,
    advice = exhaustedAdvice('borrow', 1),
  ) {
    super(
      `All sequences of tick ${tick} are used; new ones are available at ${availableAt.toISOString()}. Use ${advice} ` +
        `a layout with more sequence bits.`,
    );
  }
}

/**
 * The remedies for a tick that is used up, without the options that are on already. With `throw` no call
 * waits, and a tick of a minute or more cannot be borrowed.
 */
export function exhaustedAdvice(onExhausted: 'borrow' | 'wait' | 'throw', unitMs: number): string {
  const borrow = onExhausted === 'borrow' || unitMs >= 60_000 ? '' : ` onExhausted: 'borrow',`;
  const wait = onExhausted === 'throw' ? `onExhausted: 'wait' with async calls,` : 'an async call to wait for them,';
  return `${wait}${borrow} or`;
}

/** The clock stands where both lanes have been already, and the hold is over. */
export class ClockMovedBackError extends RetryableError {
  static override readonly name = 'ClockMovedBackError';
  readonly errorCode = 'CLOCK_MOVED_BACK';

  constructor(
    /** The tick that was reached. */
    readonly lastTick: number,
    /** The tick of the clock now. */
    readonly tick: number,
    /** How long until the clock has caught up, ms. */
    readonly behindMs: number,
  ) {
    super(
      `The clock moved back to tick ${tick}, but IDs were issued up to tick ${lastTick}. No IDs are issued until it ` +
        `catches up, in ${behindMs} ms. Check the host's time synchronisation.`,
    );
  }
}

/** All positions that the worker table granted are used; a renewal is under way. */
export class ReservationExhaustedError extends RetryableError {
  static override readonly name = 'ReservationExhaustedError';
  readonly errorCode = 'RESERVATION_EXHAUSTED';

  constructor(readonly workerId: number) {
    super(
      `Worker ${workerId} has used its whole reservation; a renewal is under way. Use an async call to wait for it. ` +
        `If this persists, the worker table cannot be written.`,
    );
  }
}

/** The ID would pass 2^53 - 1 and lose digits as a number. */
export class UnsafeIntegerError extends PermanentError {
  static override readonly name = 'UnsafeIntegerError';
  readonly errorCode = 'UNSAFE_INTEGER';

  /** @param safeUntil since when they no longer fit; null when that does not depend on the time */
  constructor(
    readonly safeUntil: Date | null,
    whose = `This layout's IDs`,
  ) {
    super(
      `${whose} passed 2^53 - 1, the largest exact JavaScript ` +
        `number${safeUntil === null ? '' : `, at ${safeUntil.toISOString()}`}: use nextString() or nextId().`,
    );
  }
}

/** The code is not a non-empty string of at most 128 characters. */
export class InvalidCodeError extends PermanentError {
  static override readonly name = 'InvalidCodeError';
  readonly errorCode = 'INVALID_CODE';

  constructor(readonly given: unknown) {
    super(
      `A code must be a string of 1 to 128 characters; this one ${
        typeof given === 'string' ? `has ${given.length}` : given === null ? 'is null' : `is of type ${typeof given}`
      }. It is the first argument; pass undefined for IDs without a code.`,
    );
  }
}

/** The batch size is not an integer from 1 to `maxBatch`, or the target is not a BigInt64Array. */
export class InvalidBatchError extends PermanentError {
  static override readonly name = 'InvalidBatchError';
  readonly errorCode = 'INVALID_BATCH';

  constructor(
    readonly given: unknown,
    readonly maxBatch: number,
  ) {
    const shown = showValue(given);
    super(
      `A batch must be an integer from 1 to ${maxBatch} (maxBatch) or a BigInt64Array of that length, not ${shown}.`,
    );
  }
}

/** An async call waited for as long as it was allowed to; `cause` is the refusal that it met last. */
export class WaitTimeoutError extends RetryableError {
  static override readonly name = 'WaitTimeoutError';
  readonly errorCode = 'WAIT_TIMEOUT';

  constructor(
    readonly timeoutMs: number,
    override readonly cause: RaindropError,
  ) {
    super(`No ID within ${timeoutMs} ms: ${cause.message}`, cause);
  }
}

/** The given `timeoutMs` is not a number of milliseconds, 0 or more. */
export class InvalidTimeoutError extends PermanentError {
  static override readonly name = 'InvalidTimeoutError';
  readonly errorCode = 'INVALID_TIMEOUT';

  constructor(readonly given: unknown) {
    super(`timeoutMs must be a number of milliseconds, 0 or more, not ${showValue(given)}.`);
  }
}

/** Whether a value is a string of 1 to 128 characters. */
export function isCode(code: unknown): code is string {
  return typeof code === 'string' && code.length > 0 && code.length <= 128;
}
