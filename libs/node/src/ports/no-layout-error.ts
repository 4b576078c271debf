import { RaindropError } from '@raindrop/core';

/** Numbers from segments have no bits to look at: they say nothing but their order. */
export class NoLayoutError extends RaindropError {
  readonly errorCode = 'NO_LAYOUT';

  constructor(readonly service: string) {
    super(`The service '${service}' issues numbers from segments (idMode 'numberSection'), which have no layout.`, {
      retryable: false,
    });
  }
}
