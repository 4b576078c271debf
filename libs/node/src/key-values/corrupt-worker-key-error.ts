import { RaindropError } from '@raindrop/core';

/** A key of a worker in etcd or NATS holds what Raindrop cannot have written; nothing is guessed. */
export class CorruptWorkerKeyError extends RaindropError {
  readonly errorCode = 'CORRUPT_WORKER_KEY';

  constructor(readonly key: string) {
    super(
      `The key ${key} is nothing that Raindrop has written. Put back what was there; never delete the key of a worker, ` +
        `which says how far its IDs went.`,
      { retryable: false },
    );
  }
}
