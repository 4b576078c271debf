import { RaindropError } from '../raindrop-error.js';

/** More codes than `maxCodes` were asked for in this process. A code that is dropped would lose its numbers. */
export class TooManyCodesError extends RaindropError {
  readonly errorCode = 'TOO_MANY_CODES';

  constructor(
    readonly idCode: string,
    readonly maxCodes: number,
  ) {
    super(
      `'${idCode}' would be one code more than maxCodes (${maxCodes}) allows. Codes are business kinds, few and known: ` +
        `do not make them of what users send. Otherwise raise maxCodes.`,
      { retryable: false },
    );
  }
}
