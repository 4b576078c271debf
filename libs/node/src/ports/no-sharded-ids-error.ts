import { RaindropError } from '@raindrop/core';

/** Sharded IDs were asked of a service that was not set up for them. */
export class NoShardedIdsError extends RaindropError {
  readonly errorCode = 'NO_SHARDED_IDS';

  constructor(readonly service: string) {
    super(`The service '${service}' has no sharded IDs: give it idMode: 'numberSection' and sharded: true.`, {
      retryable: false,
    });
  }
}
