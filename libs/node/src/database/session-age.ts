import type { Connection } from './database-connection.js';
import type { Dialect } from './dialect.js';

/** A server's session that is so much older than our connection was opened for another client. */
const POOLED_MS = 5_000;

/** How old the server's session is, which may lead to a server that is no primary any more. */
export class SessionAge {
  private readonly heard = new WeakSet<Connection>();
  /** How many connections in a row were, at their first answer, much younger than the session that answered. */
  private olderInARow = 0;

  /**
   * A pooler shares its sessions: a new connection may lead to the same one, however often it is opened. One connection that
   * looks so is not enough. This process may have been suspended for 6 s before the first answer, with its monotonic clock.
   */
  get isPooled(): boolean {
    return this.olderInARow > 1;
  }

  /**
   * Hears the age that the server tells, and at the first answer of a connection what kind it is. A difference that grows
   * later makes the session older: it is a clock that stood still here, or was set there.
   * @returns the age by which the session is judged, ms: the larger of the two; 0 behind a pooler, and without end when
   * another connection is needed whatever the limit
   */
  of(connection: Connection, ownAgeMs: number, serverAgeMs: number): number {
    if (!this.heard.has(connection)) {
      this.heard.add(connection);
      this.olderInARow = serverAgeMs - ownAgeMs > POOLED_MS ? this.olderInARow + 1 : 0;
    }
    if (this.isPooled) return 0;
    // An age below 0 is that of a clock that was put back.
    if (this.olderInARow > 0 || serverAgeMs < 0) return Number.POSITIVE_INFINITY;
    return Math.max(serverAgeMs, ownAgeMs);
  }

  /** The condition that the session of a statement is young enough, to be added to others; '' where a pooler has it. */
  andIsYoung({ sessionAgeMs }: Dialect, maxAgeMs: number, ownAgeMs: number): string {
    if (this.isPooled) return '';
    if (ownAgeMs > maxAgeMs) return ' AND 1 = 0';
    return sessionAgeMs === '0' ? '' : ` AND ${sessionAgeMs} BETWEEN 0 AND ${maxAgeMs}`;
  }
}
