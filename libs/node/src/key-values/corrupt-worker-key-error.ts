import { RaindropError } from '@raindrop/core';

const REMEDY =
  'is nothing that Raindrop has written. Put back what was there; never delete the key of a worker, which says how far its ' +
  'IDs went.';

/** A key of a worker in etcd or NATS holds what Raindrop cannot have written, or was lost; nothing is guessed. */
export class CorruptWorkerKeyError extends RaindropError {
  readonly errorCode = 'CORRUPT_WORKER_KEY';

  constructor(
    readonly key: string,
    problem = REMEDY,
  ) {
    super(`The key ${key} ${problem}`, { retryable: false });
  }
}
