import { RaindropError } from '@raindrop/core';

/** SQLite has rolled back by itself the transaction that a statement was to be a part of. Nothing of it was written. */
export class TransactionLostError extends RaindropError {
  readonly errorCode = 'TRANSACTION_LOST';

  constructor() {
    super(
      'SQLite has rolled this transaction back by itself, when a statement failed: the disk was full or could not be ' +
        'used. Nothing more is written as a part of it. Let errors of the database leave the transaction, and run all of ' +
        'it again.',
      { retryable: true },
    );
  }
}
