import { RaindropError } from '../raindrop-error.js';
import { acquireRow } from './acquire-row.js';
import { HeldLease, type LeaseHooks } from './held-lease.js';
import type { LeaseContext } from './lease-context.js';
import {
  ClockSkewError,
  ClosedError,
  LeaseLostError,
  NotReadyError,
  StoreUnavailableError,
  type WorkerCensus,
} from './lease-errors.js';
import { Reservation } from './reservation.js';

/** The lease a keeper has at the moment, if any, and one attempt after the other to keep or to replace it. */
export class LeaseHolding {
  lease: HeldLease | undefined;
  /** The worker id of `lease`, or of the last one; -1 before the first. */
  workerId = -1;
  /** Counts leases. */
  number = 0;
  /** What went wrong at the last attempt; undefined when it succeeded. */
  lastError: RaindropError | undefined;
  /** Attempts, the first acquire not among them. */
  readonly tally = { renewals: 0, failures: 0 };

  private phase: 'starting' | 'held' | 'lost' | 'closed' = 'starting';
  private lapseTold = false;

  constructor(
    private readonly ctx: LeaseContext,
    private readonly hooks: LeaseHooks,
  ) {}

  get state(): 'starting' | 'held' | 'lost' | 'closed' {
    return this.phase;
  }

  /** Undefined when IDs may be issued now; takes note of the clock. */
  admit(wallMs: number): RaindropError | undefined {
    if (this.phase === 'held') return this.lease!.admit(wallMs);
    if (this.phase === 'closed') return new ClosedError();
    if (this.phase === 'starting') return new NotReadyError('none has been acquired');
    if (this.lastError instanceof ClockSkewError) return this.lastError;
    return new LeaseLostError(this.workerId, 'it was lost; another worker is being acquired');
  }

  /** @throws what {@link acquireRow} throws; ClosedError when the holding was closed meanwhile */
  async acquire(): Promise<void> {
    const reservation = new Reservation(this.ctx.resolved.layout);
    const acquired = await acquireRow(this.ctx, reservation);
    this.lease = new HeldLease(this.ctx, acquired, reservation, this.hooks);
    this.workerId = acquired.held.id;
    this.number++;
    // Whoever closes waits for this, and gives the row back.
    if (this.state === 'closed') throw new ClosedError();
    const isFirst = this.phase === 'starting';
    this.phase = 'held';
    this.lapseTold = false;
    this.hooks.changed();
    this.hooks.emit({ type: isFirst ? 'lease-acquired' : 'lease-regained', workerId: this.workerId });
    if (isFirst) this.warnOfFewWorkers(acquired.census);
  }

  /** One attempt to renew, or to acquire; answers whether it succeeded, and never rejects. */
  async attend(): Promise<boolean> {
    try {
      if (this.state === 'closed') return true;
      if (this.phase === 'held') await this.renew(this.lease!);
      else await this.acquire();
      this.tally.renewals++;
      this.lastError = undefined;
      return true;
    } catch (error) {
      if (this.state === 'closed') return true;
      this.tally.failures++;
      this.lastError = error instanceof RaindropError ? error : new StoreUnavailableError('keeping the lease', error);
      this.hooks.emit({ type: 'lease-trouble', error: this.lastError });
      if (this.lease?.admission.isLapsed === true) this.tellLapse('its lease has run out without a renewal');
      return false;
    }
  }

  /** Nothing is issued any more. */
  close(): void {
    this.phase = 'closed';
    this.hooks.changed();
  }

  /** Gives the row back, once closed and when no attempt is under way. */
  async release(): Promise<void> {
    if (this.lease !== undefined && (await this.lease.release())) {
      this.hooks.emit({ type: 'lease-released', workerId: this.workerId });
    }
    this.lease = undefined;
  }

  private async renew(lease: HeldLease): Promise<void> {
    const renewal = await lease.renew();
    if (renewal.outcome === 'renewed') return;
    if (renewal.outcome === 'lost') {
      this.lease = undefined;
      if (this.state !== 'closed') this.phase = 'lost';
      this.hooks.changed();
      this.tellLapse(renewal.reason);
    }
    this.hooks.confirmNow();
  }

  /** A range of one is meant so; in any other a crash or a rolling update needs rows that nobody holds. */
  private warnOfFewWorkers({ total, live }: Pick<WorkerCensus, 'total' | 'live'>): void {
    const held = live + 1;
    if (total === 1 || held <= total / 2) return;
    const message = `${held} of ${total} worker ids are held: widen serviceMinWorkId..serviceMaxWorkId to twice the number of nodes`;
    this.hooks.emit({ type: 'warning', message });
  }

  private tellLapse(reason: string): void {
    if (this.lapseTold) return;
    this.lapseTold = true;
    this.hooks.changed();
    this.hooks.emit({ type: 'lease-lost', workerId: this.workerId, reason });
  }
}
