import type { PrivateServer } from './private-server';

/** The engines there are pairs of. */
export type PairKind = 'postgres' | 'mariadb';

/** A primary and a standby that follows it asynchronously: what the primary acknowledged last may be missing there. */
export interface ServerPair {
  readonly kind: PairKind;
  readonly primary: PrivateServer;
  /** @throws Error when there is none. */
  readonly standby: PrivateServer;
  /** Adds a standby. Resolves when it has all that is committed by now. */
  addStandby(): Promise<void>;
  /** From now on the standby misses what the primary commits. */
  holdReplication(): Promise<void>;
  /** The standby hears of what it has missed. */
  resumeReplication(): void | Promise<void>;
  /** kill -9 of the primary. */
  killPrimary(): Promise<void>;
  /** The standby becomes the primary, without what it has not received, and the old primary is gone for good. */
  promote(): Promise<void>;
  /** The standby becomes the primary, and the old one does not hear of it: both take writes. */
  divide(): Promise<void>;
  /** Runs a statement on one of them, as an account that may do everything. */
  query(server: PrivateServer, sql: string): Promise<Record<string, unknown>[]>;
  /** Ends both and removes their directories. Safe to call twice. */
  stop(): Promise<void>;
}
