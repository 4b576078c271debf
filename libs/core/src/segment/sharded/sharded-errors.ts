import { inBrackets, PermanentError, type RaindropError, RetryableError } from '../../raindrop-error.js';
import { showValue } from '../../show-value.js';

/** The longest gate pass, in UTF-16 units: an e-mail address has 254 at most. */
export const MAX_GATE_PASS_LENGTH = 512;

/** The sharded IDs have not been started, or the table has not been read yet. */
export class ShardedIdsNotReadyError extends RetryableError {
  static override readonly name = 'ShardedIdsNotReadyError';
  readonly errorCode = 'SHARDED_IDS_NOT_READY';
  /** The number that this error has in the original service. */
  readonly legacyCode = -1;

  /** @param cause why the table could not be read; undefined before the first try */
  constructor(cause?: RaindropError) {
    super(
      `Sharded IDs are not ready: the apps have not been read${inBrackets(cause)}. Call after the application has ` +
        `started; apps are read again every two minutes.`,
      cause,
    );
  }
}

/** The table has no rows for this app: it was never registered, or it was removed. */
export class UnknownAppError extends PermanentError {
  static override readonly name = 'UnknownAppError';
  readonly errorCode = 'UNKNOWN_APP';
  /** The number that this error has in the original service. */
  readonly legacyCode = -2;

  constructor(readonly app: number) {
    super(`There is no app ${app} in the table: register it with registerApp.`);
  }
}

/** The app is registered, and the row of one of its shards is missing. */
export class UnknownShardError extends PermanentError {
  static override readonly name = 'UnknownShardError';
  readonly errorCode = 'UNKNOWN_SHARD';
  /** The number that this error has in the original service. */
  readonly legacyCode = -3;

  constructor(
    readonly app: number,
    readonly shard: number,
  ) {
    super(`App ${app} has no row for shard ${shard} in the table: register the app again to add missing rows.`);
  }
}

/** No number of this app's shard is at hand; `cause` says why, and whether waiting helps. */
export class NoShardedIdLeftError extends RetryableError {
  static override readonly name = 'NoShardedIdLeftError';
  readonly errorCode = 'NO_SHARDED_ID_LEFT';
  /** The number that this error has in the original service. */
  readonly legacyCode = -4;

  constructor(
    readonly app: number,
    readonly shard: number,
    override readonly cause: RaindropError,
  ) {
    super(`The queue of app ${app}, shard ${shard} is empty: ${cause.message}`, cause);
  }
}

/** The app is not an integer from 0 to 255. */
export class InvalidAppError extends PermanentError {
  static override readonly name = 'InvalidAppError';
  readonly errorCode = 'INVALID_APP';

  constructor(readonly given: unknown) {
    super(`app must be an integer from 0 to 255, not ${showValue(given)}: it is eight bits of every ID.`);
  }
}

/** The gate pass is not a text of 1 to 512 characters. The value stays out of the message: it may be a phone number. */
export class InvalidGatePassError extends PermanentError {
  static override readonly name = 'InvalidGatePassError';
  readonly errorCode = 'INVALID_GATE_PASS';

  constructor(given: unknown) {
    const shown =
      typeof given === 'string' ? `has ${given.length}` : given === null ? 'is null' : `is of type ${typeof given}`;
    super(
      `gatePass must be a string of 1 to ${MAX_GATE_PASS_LENGTH} characters; this one ${shown}. Use a user name, ` +
        `phone number, e-mail address or the like, always spelled the same.`,
    );
  }
}
