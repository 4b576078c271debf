import { PermanentError, RaindropError, RetryableError } from '../raindrop-error.js';

/** Every ID of the ring is taken; the producer issues more as soon as it can. The async calls wait for them. */
export class RingEmptyError extends RetryableError {
  static override readonly name = 'RingEmptyError';
  readonly errorCode = 'RING_EMPTY';

  constructor(readonly capacity: number) {
    super(
      `The ring of ${capacity} IDs is empty: the threads take IDs faster than the producer issues them, or its ` +
        `thread is busy. Use an async call to wait, a larger boostPower, or a layout with more sequence bits.`,
    );
  }
}

/** The producer was silent for longer than `producerTimeoutMs`: its thread ended, or is blocked. */
export class RingProducerLostError extends RetryableError {
  static override readonly name = 'RingProducerLostError';
  readonly errorCode = 'RING_PRODUCER_LOST';

  /** @param lateByMs for how long its deadline has passed, ms */
  constructor(readonly lateByMs: number) {
    super(
      `The ring's producer missed its deadline by ${Math.round(lateByMs)} ms (producerTimeoutMs): its thread ended ` +
        `or is blocked, or the clock jumped. No IDs are taken until it responds.`,
    );
  }
}

/** The producer may not issue IDs; the IDs that it had put into the ring are not handed out any more. */
export class RingFailedError extends RaindropError {
  static override readonly name = 'RingFailedError';
  readonly errorCode = 'RING_FAILED';

  constructor(
    /** The `errorCode` of the producer's refusal. */
    readonly producerCode: string,
    reason: string,
    retryable: boolean,
  ) {
    super(`The ring's producer may not issue IDs (${producerCode}): ${reason}`, { retryable });
  }
}

/** The ring was closed by its producer, for good. */
export class RingClosedError extends PermanentError {
  static override readonly name = 'RingClosedError';
  readonly errorCode = 'RING_CLOSED';

  constructor() {
    super("The ring's producer closed it: no more IDs can be taken.");
  }
}
