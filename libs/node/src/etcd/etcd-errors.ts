import { RaindropError } from '@raindrop/core';

/** No etcd answered, or it could not serve. What was asked for may have been executed; nothing of it is used. */
export class EtcdUnavailableError extends RaindropError {
  readonly errorCode = 'ETCD_UNAVAILABLE';

  constructor(what: string, cause: unknown) {
    super(`etcd is out of reach (${what}): ${cause instanceof Error ? cause.message : String(cause)}`, {
      retryable: true,
      cause,
    });
  }
}

/** etcd refuses the account, or the account may not do this; nothing was executed. */
export class EtcdRefusedError extends RaindropError {
  readonly errorCode = 'ETCD_REFUSED';

  constructor(what: string, reason: string) {
    super(
      `etcd refuses ${what}: ${reason}. Correct username and password of etcdWorkers(), and grant its role readwrite on ` +
        `the prefix (etcdctl role grant-permission ROLE --prefix=true readwrite PREFIX)`,
      { retryable: false },
    );
  }
}
