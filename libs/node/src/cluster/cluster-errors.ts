import { RaindropError } from '@raindrop/core';
import type { TravellingError } from './cluster-messages.js';

/** The primary refused; code, message and `retryable` are those of the error there. */
export class PrimaryRefusedError extends RaindropError {
  readonly errorCode: string;

  constructor({ errorCode, message, retryable }: TravellingError) {
    super(`The primary refused: ${message}`, { retryable });
    this.errorCode = errorCode;
  }
}

/** The channel to the primary is closed, and a worker never gets another one. */
export class PrimaryGoneError extends RaindropError {
  readonly errorCode = 'PRIMARY_GONE';

  constructor() {
    super(
      `The channel to the primary is closed, and with it the source of this worker's IDs: it ended, or disconnect() was ` +
        `called. End this worker; a new primary starts its own.`,
      { retryable: false },
    );
  }
}

/** The worker's layout is not the primary's: it would take the IDs for others than they are. */
export class ClusterLayoutError extends RaindropError {
  readonly errorCode = 'CLUSTER_LAYOUT';

  constructor(
    readonly service: string,
    /** The fingerprints. */
    readonly worker: string,
    readonly primary: string,
  ) {
    super(
      `The service '${service}' has the layout ${worker} in the worker and ${primary} in the primary: leave the ` +
        `layout options out in the worker, or give both the same, and restart whichever runs the older ones.`,
      { retryable: false },
    );
  }
}

/** A message about IDs came that neither version of this library sends, be it of the primary or of the worker. */
export class InvalidClusterMessageError extends RaindropError {
  readonly errorCode = 'INVALID_CLUSTER_MESSAGE';

  constructor(from: 'the primary' | 'a worker') {
    super(
      `A message of ${from} about IDs is malformed: nothing of it is used. Do both run the same version of Raindrop?`,
      {
        retryable: false,
      },
    );
  }
}
