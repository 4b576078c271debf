import type { MonotonicClock, WorkerRow } from '@raindrop/core';

/**
 * Ends leases that the clock would never end.
 *
 * A clock that was set back, or is behind after a start without a network, finds leases that begin in the future, of
 * processes that are gone: they would last for hours. A holder that lives writes his row all the time. So a lease from
 * the future ends, at the latest, when its row has not changed for as long as it was to last, by this process's monotonic
 * clock. What was granted stays granted: that is a matter of the row's odometers.
 */
export class StandstillWatch {
  private readonly seen = new Map<number, { readonly version: number; readonly sinceMs: number }>();

  constructor(private readonly monotonic: MonotonicClock) {}

  /** A held row as it is to be seen at `nowMs`. */
  look(row: WorkerRow, nowMs: number): WorkerRow {
    const { id, version, heartbeatMs, leaseUntilMs } = row;
    if (heartbeatMs <= nowMs) {
      this.seen.delete(id);
      return row;
    }
    const now = this.monotonic.now();
    const known = this.seen.get(id);
    const sinceMs = known?.version === version ? known.sinceMs : now;
    this.seen.set(id, { version, sinceMs });
    const leftMs = sinceMs + (leaseUntilMs - heartbeatMs) - now;
    return { ...row, leaseUntilMs: Math.min(leaseUntilMs, Math.ceil(nowMs + leftMs)) };
  }
}
