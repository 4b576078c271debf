import { RaindropError } from '@raindrop/core';

/** Redis did not answer, or refused. What was asked for may have been executed; nothing of it is used. */
export class RedisUnavailableError extends RaindropError {
  readonly errorCode = 'REDIS_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super(`Redis is out of reach (${what}): ${cause instanceof Error ? cause.message : String(cause)}`, {
      retryable: true,
      cause,
    });
  }
}
