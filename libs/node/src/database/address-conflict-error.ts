import { RaindropError } from '@raindrop/core';

/** Of several addresses more than one leads to a server that takes writes, and not to the same database. */
export class AddressConflictError extends RaindropError {
  readonly errorCode = 'ADDRESS_CONFLICT';

  constructor(
    /** Those that take writes, without account and password. */
    readonly addresses: readonly string[],
    configuredBy: string,
  ) {
    super(
      `The addresses in ${configuredBy} lead to different databases that all take writes, or cannot be told apart: ` +
        `${addresses.join(', ')}. Give addresses of one server, of a primary and its replicas, or of one cluster; stop a ` +
        `primary that was replaced, or make it read-only.`,
      { retryable: true },
    );
  }
}
