import { RaindropError } from '@raindrop/core';

/** No NATS answered, or it could not serve. What was asked for may have been executed; nothing of it is used. */
export class NatsUnavailableError extends RaindropError {
  readonly errorCode = 'NATS_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super(`NATS is out of reach (${what}): ${cause instanceof Error ? cause.message : String(cause)}`, {
      retryable: true,
      cause,
    });
  }
}

/** NATS refuses the account, or the account may not do this; nothing was executed. */
export class NatsRefusedError extends RaindropError {
  readonly errorCode = 'NATS_REFUSED';

  constructor(what: string, reason: string) {
    super(
      `NATS refuses ${what}: ${reason}. Correct the account in the connection of natsWorkers(), and let it publish to ` +
        `$JS.API.>, $JS.FC.> and the subjects of the bucket ($KV.BUCKET.>), and subscribe to _INBOX.>`,
      { retryable: false },
    );
  }
}

/** The bucket, or the server, may lose what it has acknowledged; nothing was executed. */
export class NatsBucketError extends RaindropError {
  readonly errorCode = 'NATS_BUCKET';

  constructor(
    readonly bucket: string,
    readonly problems: readonly string[],
  ) {
    super(`The NATS bucket ${bucket} is not safe for worker ids: ${problems.join('; ')}`, { retryable: false });
  }
}
