import { inBrackets, type RaindropError, RetryableError } from '../raindrop-error.js';
import { showValue } from '../show-value.js';

/** No ID is in memory right now; the next ones have been asked for. The async calls wait for them. */
export class IdsNotReadyError extends RetryableError {
  static override readonly name = 'IdsNotReadyError';
  readonly errorCode = 'IDS_NOT_READY';

  /** @param cause why the last attempt to get some failed; undefined when none did */
  constructor(
    /** Undefined for IDs without one. */
    readonly idCode: string | undefined,
    cause?: RaindropError,
  ) {
    const whose = idCode === undefined ? '' : ` of '${idCode}'`;
    super(
      `No ID${whose} is buffered${inBrackets(cause)}. Use an async call to wait for the next ones, or start the code ` +
        `to keep some buffered.`,
      cause,
    );
  }
}

/** The process that issues the IDs cannot be reached, or does not answer in time. It is asked again by itself. */
export class IdSourceUnavailableError extends RetryableError {
  static override readonly name = 'IdSourceUnavailableError';
  readonly errorCode = 'ID_SOURCE_UNAVAILABLE';

  constructor(
    /** As the source calls itself. */
    readonly source: string,
    cause: unknown,
  ) {
    super(`No IDs came from ${source}: ${cause instanceof Error ? cause.message : showValue(cause)}`, cause);
  }
}

/** The source answered with something that is not a batch of IDs. Nothing of it is used. */
export class InvalidIdBatchError extends RetryableError {
  static override readonly name = 'InvalidIdBatchError';
  readonly errorCode = 'INVALID_ID_BATCH';

  constructor(
    readonly source: string,
    given: unknown,
    what: string,
  ) {
    super(`An answer from ${source} is ${what} (${showValue(given)}): it is discarded. Do both run the same version?`);
  }
}
