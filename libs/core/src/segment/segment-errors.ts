import { inBrackets, PermanentError, RaindropError, RetryableError, UnavailableError } from '../raindrop-error.js';

/** No number of this code is in memory right now; the next ones are being fetched. The async calls wait for them. */
export class SegmentNotReadyError extends RetryableError {
  static override readonly name = 'SegmentNotReadyError';
  readonly errorCode = 'SEGMENT_NOT_READY';

  /** @param cause why the last attempt to fetch some failed; undefined when none did */
  constructor(
    readonly idCode: string,
    cause?: RaindropError,
  ) {
    super(
      `No number of '${idCode}' is buffered${inBrackets(cause)}. Use an async call to wait for the next ones, or ` +
        `list the code in codes to have some from the start.`,
      cause,
    );
  }
}

/** All numbers up to the row's limit have been reserved. No number is ever reused. */
export class SegmentExhaustedError extends PermanentError {
  static override readonly name = 'SegmentExhaustedError';
  readonly errorCode = 'SEGMENT_EXHAUSTED';

  constructor(
    readonly idCode: string,
    readonly maxLimitId: bigint,
  ) {
    super(
      `The numbers of '${idCode}' are used up: max_limit_id is ${maxLimitId}. Raise it in the table (0 for no ` +
        `limit), or use another code.`,
    );
  }
}

/** The table has no row for this code, and `autoCreateCode` is false. */
export class UnknownCodeError extends PermanentError {
  static override readonly name = 'UnknownCodeError';
  readonly errorCode = 'UNKNOWN_CODE';

  constructor(readonly idCode: string) {
    super(`There are no numbers for the code '${idCode}': insert its row, or set autoCreateCode.`);
  }
}

/** The store answered with numbers that it, or this process, had passed already. None of them is used. */
export class SegmentRegressionError extends RetryableError {
  static override readonly name = 'SegmentRegressionError';
  readonly errorCode = 'SEGMENT_REGRESSION';

  constructor(
    readonly idCode: string,
    /** The highest number that had come before. */
    readonly above: bigint,
    readonly answered: { readonly first: bigint; readonly last: bigint },
  ) {
    super(
      `The store answered ${answered.first} to ${answered.last} for '${idCode}', but numbers up to ${above} had come ` +
        `before: the answer is discarded. If this persists, check the store and the database's durability settings.`,
    );
  }
}

/** The segment table cannot be read or written right now. */
export class SegmentStoreUnavailableError extends UnavailableError {
  static override readonly name = 'SegmentStoreUnavailableError';
  readonly errorCode = 'SEGMENT_STORE_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super('The segment table', what, cause);
  }
}

/**
 * Returns the error of a segment store's call as one of Raindrop's: SegmentStoreUnavailableError unless it is one
 * already.
 */
export function storeError(what: string, reason: unknown): RaindropError {
  return reason instanceof RaindropError ? reason : new SegmentStoreUnavailableError(what, reason);
}
