import { RetryableError } from '@raindrop/core/internal';
import type { Bind, Dialect } from './dialect.js';

/** The term that a dialect's SQL answers on a replica. */
export const REPLICA = 'replica';

/** The database answered from a replica, whose rows may be older than what the primary has acknowledged. */
export class ReplicaError extends RetryableError {
  static override readonly name = 'ReplicaError';
  readonly errorCode = 'REPLICA';

  constructor() {
    super(
      'The database answered from a replica (pg_is_in_recovery() or @@read_only): it may lag, and it refuses writes. ' +
        'Use the address of the primary. Behind a proxy that sends reads to replicas, use an account or port that ' +
        'reaches only the primary (pgpool: load_balance_mode = off or disable_load_balance_on_write; ProxySQL: a ' +
        'user without query rules; MaxScale: a readconnroute service with router_options=master).',
    );
  }
}

/** The server tells this account no term, and is known to have one: a failover would go unnoticed, or be seen at every look. */
export class ServerHiddenError extends RetryableError {
  static override readonly name = 'ServerHiddenError';
  readonly errorCode = 'SERVER_HIDDEN';

  constructor() {
    super(
      'The database server hides its identity from this account, but not from others: a failover could go unnoticed. ' +
        'Give the account the same rights (PostgreSQL: GRANT pg_monitor or EXECUTE ON FUNCTION pg_control_system() ' +
        'TO it; MySQL and MariaDB: SELECT on performance_schema), or use one account for all processes.',
    );
  }
}

/** The condition that a statement is executed by the server whose term that is. */
export function isOnServer(dialect: Dialect, value: Bind, term: string): string {
  return `${dialect.termOfWrite} = ${value(term)}`;
}
