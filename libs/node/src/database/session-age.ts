import type { Dialect } from './dialect.js';

/** A server's session that is so much older than our connection was opened for somebody else. */
const POOLED_MS = 5_000;

/** How old the server's session is, which may lead to a server that is no primary any more. */
export class SessionAge {
  /** The session is older than our connection: a new connection may lead to the same one. */
  isPooled = false;

  /**
   * Hears the age that the server tells, and that of our connection.
   * @returns whether another connection is needed; never behind a pooler
   */
  isTooOld(serverAgeMs: number, ownAgeMs: number, maxAgeMs: number): boolean {
    this.isPooled = serverAgeMs - ownAgeMs > POOLED_MS;
    return !this.isPooled && serverAgeMs > maxAgeMs;
  }

  /** The condition that the session of a statement is young enough, to be added to others; '' where a pooler has it. */
  andIsYoung({ sessionAgeMs }: Dialect, maxAgeMs: number): string {
    return this.isPooled || sessionAgeMs === '0' ? '' : ` AND ${sessionAgeMs} <= ${maxAgeMs}`;
  }
}
