import { isErrorNamed, markErrors } from './copies.js';

/**
 * The base of every error that Raindrop throws on purpose.
 *
 * `errorCode` is stable across releases and safe to branch on; the message is for people and may change.
 * `retryable` says whether the same call can succeed later without anybody changing anything. `instanceof` also knows
 * the errors of another copy of this package in the same process, by the names of their classes.
 */
export abstract class RaindropError extends Error {
  abstract readonly errorCode: string;

  readonly retryable: boolean;

  protected constructor(message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.retryable = options.retryable;
  }

  static {
    markErrors(this);
  }

  /** Decides `instanceof`, see above. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    // What this copy has made is of the classes that it has.
    const isOurs = Function.prototype[Symbol.hasInstance].call(RaindropError, value);
    return !isOurs && isErrorNamed(this.name, value);
  }
}
