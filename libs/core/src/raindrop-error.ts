/**
 * The base of every error that Raindrop throws on purpose.
 *
 * `errorCode` is stable across releases and safe to branch on; the message is for people and may change.
 * `retryable` says whether the same call can succeed later without anybody changing anything.
 */
export abstract class RaindropError extends Error {
  abstract readonly errorCode: string;

  readonly retryable: boolean;

  protected constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.retryable = options.retryable;
  }
}
