import { RaindropError } from '../raindrop-error.js';

/** The clock was set forward so far that short IDs would repeat before they expire. */
export class ShortIdRepeatError extends RaindropError {
  readonly errorCode = 'SHORT_ID_REPEAT';

  constructor(
    /** For how long short IDs must differ. */
    readonly expireSeconds: number,
    /** How long until they do, ms, if the clock stays as it is. */
    readonly blockedMs: number,
  ) {
    super(
      `The clock was set forward, so far that a short ID could repeat one of the last ${expireSeconds} s. ` +
        `None is issued for ${Math.ceil(blockedMs / 1_000)} s, or until the clock is set right. ` +
        `Check the host's time synchronisation; a smaller expireSeconds lets the clock leap further.`,
      { retryable: true },
    );
  }
}
