import type { MonotonicClock } from '../time/clock.js';
import type { WorkerRow } from './worker-store.js';

interface Seen {
  readonly version: number;
  readonly sinceMs: number;
  readonly isOwn: boolean;
}

/**
 * Says when leases end where no clock is shared: a lease is over when its row has not changed for as long as it was to
 * last, by the monotonic clock of whoever looks. A holder that lives writes his row all the time, so nobody takes it,
 * whatever the clocks of the hosts say. Whoever has just started waits a whole lease for a row whose holder is gone.
 *
 * A store has one. It shows to it every row that it has written and every row that it reads. What was granted stays
 * granted in any case: that is a matter of the row's odometers.
 */
export class LeaseWatch {
  private readonly seen = new Map<number, Seen>();

  /** @param monotonic this process's, such as `performance` */
  constructor(private readonly monotonic: MonotonicClock) {}

  /** Notes a row that this store has written: of its own lease the wall clock tells, too, that it has slept past the end. */
  wrote({ id, version }: WorkerRow): void {
    this.seen.set(id, { version, sinceMs: this.monotonic.now(), isOwn: true });
  }

  /** A row as it is to be believed at `nowMs`, Unix ms of this process: with the end of the lease by that clock. */
  look(row: WorkerRow, nowMs: number): WorkerRow {
    const { id, version, heartbeatMs, leaseUntilMs } = row;
    if (row.token === '') return row;
    const now = this.monotonic.now();
    const known = this.seen.get(id);
    const seen = known?.version === version ? known : { version, sinceMs: now, isOwn: false };
    this.seen.set(id, seen);
    const untilMs = Math.ceil(nowMs + seen.sinceMs + (leaseUntilMs - heartbeatMs) - now);
    return { ...row, leaseUntilMs: seen.isOwn ? Math.min(leaseUntilMs, untilMs) : untilMs };
  }
}
