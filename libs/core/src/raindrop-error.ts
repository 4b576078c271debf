import { isErrorNamed, markErrors } from './copies.js';

/**
 * The base of every error that Raindrop throws on purpose.
 *
 * `errorCode` is stable across releases and safe to branch on; the message is for people and may change.
 * `retryable` says whether the same call can succeed later by itself. `instanceof` also knows the errors of another copy
 * of this package in the same process, by the names of their classes. Each class states its name as a static `name`,
 * because a minifier shortens the one that JavaScript gives it.
 */
export abstract class RaindropError extends Error {
  static override readonly name: string = 'RaindropError';

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

  /** Decides `instanceof`: see above. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    // An error of this copy is of this copy's classes: the first check was enough.
    const isOurs = Function.prototype[Symbol.hasInstance].call(RaindropError, value);
    return !isOurs && isErrorNamed(this.name, value);
  }
}

/** The base of errors that pass by themselves. Callers ask `retryable`: an older copy of this package lacks this class. */
export abstract class RetryableError extends RaindropError {
  static override readonly name: string = 'RetryableError';

  protected constructor(message: string, cause?: unknown) {
    super(message, { retryable: true, cause });
  }
}

/** The base of errors that stay until an option, the data or the call itself is changed. */
export abstract class PermanentError extends RaindropError {
  static override readonly name: string = 'PermanentError';

  protected constructor(message: string, cause?: unknown) {
    super(message, { retryable: false, cause });
  }
}

/** The base of errors about a table or a server that cannot be reached right now. */
export abstract class UnavailableError extends RetryableError {
  static override readonly name: string = 'UnavailableError';

  /**
   * @param unavailable the table or the server, as a sentence begins with it
   * @param what what was to be done there, or what went wrong
   */
  protected constructor(unavailable: string, what: string, cause: unknown) {
    super(`${unavailable} is unavailable (${what}): ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

/** The message of a cause in brackets, to be appended to a sentence; nothing where there is no cause. */
export function inBrackets(cause: RaindropError | undefined): string {
  return cause === undefined ? '' : ` (${cause.message})`;
}
