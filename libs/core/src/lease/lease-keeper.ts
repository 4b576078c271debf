import { BEFORE_ALL, type Lane, type PerLane, type Position } from '../generator/position.js';
import type { Tenure } from '../generator/tenure.js';
import { RaindropError } from '../raindrop-error.js';
import { acquireRow } from './acquire-row.js';
import { HeldLease } from './held-lease.js';
import type { LeaseContext } from './lease-context.js';
import {
  ClosedError,
  LeaseLostError,
  NoFreeWorkerError,
  NotReadyError,
  StoreUnavailableError,
} from './lease-errors.js';
import type { LeaseEvent } from './lease-events.js';
import type { LeaseStatus } from './lease-status.js';
import { RenewalClock } from './renewal-clock.js';
import { Reservation } from './reservation.js';

/** How often a store that does not answer is tried at the start. */
const START_TRIES = 3;

/** What stands in for the positions while no row is held. */
const NOTHING: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];

/**
 * Keeps one worker id: acquires a row, renews it, reserves ahead of the generator, gives the row back, and takes another
 * when it was lost. It is the tenure that the generator asks "may I issue up to here?".
 *
 * What makes IDs unique is the odometer alone: a grant is written to the row before anything in it is issued, by a
 * compare-and-swap on version and token, and the next holder starts after it. Lease and clocks decide only when a row
 * changes hands and which granted position is used.
 */
export class LeaseKeeper implements Tenure {
  number = 0;

  private state: 'starting' | 'held' | 'lost' | 'closed' = 'starting';
  private lease: HeldLease | undefined;
  private lastWorkerId = -1;
  private lapseTold = false;
  private readonly renewals: RenewalClock;
  private changed: () => void = () => {};
  private highest: (lane: Lane) => Position = (lane) => this.base[lane];
  private starting: Promise<void> | undefined;
  private closing: Promise<void> | undefined;
  private readonly tally = { renewals: 0, failures: 0 };
  private lastError: RaindropError | undefined;
  private wakeUp: () => void = () => {};

  constructor(
    private readonly ctx: LeaseContext,
    private readonly emit: (event: LeaseEvent) => void,
  ) {
    const { timers, randomness } = ctx.ports;
    this.renewals = new RenewalClock(timers, randomness, ctx.options, () => this.attend());
  }

  get workerId(): number {
    return this.lastWorkerId;
  }

  get lane(): Lane {
    return this.lease?.reservation.lane ?? 0;
  }

  get base(): PerLane<Position> {
    return this.lease?.reservation.base ?? NOTHING;
  }

  get limit(): PerLane<Position> {
    return this.lease?.reservation.limit ?? NOTHING;
  }

  get soft(): PerLane<Position> {
    return this.lease?.reservation.soft ?? NOTHING;
  }

  get flipping(): boolean {
    return this.lease?.wantsFlip === true && this.renewals.isBusy;
  }

  onChange(listener: () => void): void {
    this.changed = listener;
  }

  /** Names who knows the highest position issued in this tenure, by lane: a release gives the rest back. */
  reportedBy(highest: (lane: Lane) => Position): void {
    this.highest = highest;
  }

  /**
   * Creates what is missing in the database and acquires a worker id; settles when IDs can be issued. When it fails the
   * keeper is closed.
   * @throws NoFreeWorkerError when all are taken and `waitForWorkerMs` is over; LayoutConflictError; ClockSkewError;
   * ConfigurationError; StoreUnavailableError; ClosedError; what the store throws on a table it cannot use
   */
  async start(): Promise<void> {
    this.starting ??= this.startUp();
    try {
      await this.starting;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  admit(wallMs: number): RaindropError | undefined {
    if (this.state === 'held') return this.lease!.admit(wallMs);
    if (this.state === 'closed') return new ClosedError();
    if (this.state === 'starting') return new NotReadyError('none has been acquired');
    return new LeaseLostError(this.lastWorkerId, 'it was lost; another worker is being acquired');
  }

  requestExtension(): void {
    this.renewals.soon();
  }

  requestFlip(lane: Lane): void {
    this.lease?.wantLane(lane);
    this.renewals.soon();
  }

  /** To be called when this process's memory was restored from a snapshot: nothing granted before is used any more. */
  afterRestore(): void {
    this.lease?.suspect('the process was restored from a snapshot');
  }

  /**
   * Stops issuing for ever, then gives the row back; the next holder may take it at once. Never rejects: a row that
   * cannot be given back comes free when its lease ends.
   */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  status(): LeaseStatus {
    const { lease } = this;
    const refusal = lease?.admission.refusal(lease.workerId);
    const left = lease === undefined ? 0 : lease.admission.deadlineMs - this.ctx.ports.monotonic.now();
    return {
      state: this.state === 'held' && refusal !== undefined ? 'suspect' : this.state,
      workerId: lease?.workerId,
      lane: this.lane,
      leaseLeftMs: refusal === undefined ? Math.max(0, left) : 0,
      base: this.base,
      limit: this.limit,
      clockOffsetMs: lease?.clockOffsetMs,
      ...this.tally,
      lastError: this.lastError,
    };
  }

  private async startUp(): Promise<void> {
    const { session, options, ports, resolved } = this.ctx;
    // Creating and filling takes several statements: it gets the time of ten.
    const timeoutMs = 10 * options.opTimeoutMs;
    await session.run('preparing the worker table', (store) => store.prepare(resolved.workers), timeoutMs);
    const giveUpAt = ports.monotonic.now() + options.waitForWorkerMs;
    for (let storeFailures = 0; this.lease === undefined;) {
      try {
        await this.acquire();
      } catch (error) {
        const mayWait = error instanceof NoFreeWorkerError && ports.monotonic.now() < giveUpAt;
        const mayRetry = error instanceof StoreUnavailableError && ++storeFailures < START_TRIES;
        if (this.isClosing || (!mayWait && !mayRetry)) throw error;
        await this.pause(200 + 600 * ports.randomness.fraction());
      }
    }
    this.renewals.start();
    while (!this.isClosing && this.lease.admission.probationLeftMs > 0) {
      await this.pause(this.lease.admission.probationLeftMs);
    }
    while (!this.isClosing && this.admit(ports.clock.refresh()) !== undefined) {
      this.renewals.now();
      await this.pause(50);
    }
    if (this.isClosing) throw new ClosedError();
  }

  /** One attempt to renew, or to acquire; answers whether it succeeded. */
  private async attend(): Promise<boolean> {
    try {
      if (this.state === 'held') await this.renew(this.lease!);
      else await this.acquire();
      this.tally.renewals++;
      this.lastError = undefined;
      return true;
    } catch (error) {
      if (this.isClosing) return true;
      this.tally.failures++;
      this.lastError = error instanceof RaindropError ? error : new StoreUnavailableError('keeping the lease', error);
      this.emit({ type: 'lease-trouble', error: this.lastError });
      if (this.lease?.admission.isLapsed === true) this.tellLapse('its lease has run out without a renewal');
      return false;
    }
  }

  private async acquire(): Promise<void> {
    const reservation = new Reservation(this.ctx.resolved.layout);
    const acquired = await acquireRow(this.ctx, reservation);
    this.lease = new HeldLease(this.ctx, acquired, reservation, {
      changed: () => this.changed(),
      confirmNow: () => this.renewals.now(),
      emit: this.emit,
      highest: (lane) => this.highest(lane),
    });
    this.lastWorkerId = acquired.held.id;
    this.number++;
    // Closed meanwhile: whoever closes waits for this, and gives the row back.
    if (this.isClosing) throw new ClosedError();
    const isFirst = this.state === 'starting';
    this.state = 'held';
    this.lapseTold = false;
    this.changed();
    this.emit({ type: isFirst ? 'lease-acquired' : 'lease-regained', workerId: this.lastWorkerId });
  }

  private async renew(lease: HeldLease): Promise<void> {
    const renewal = await lease.renew();
    if (renewal.outcome === 'lost') {
      this.lease = undefined;
      if (!this.isClosing) this.state = 'lost';
      this.changed();
      this.tellLapse(renewal.reason);
    } else if (this.lapseTold && renewal.outcome === 'renewed') {
      this.lapseTold = false;
      this.emit({ type: 'lease-regained', workerId: lease.workerId });
    }
    if (renewal.outcome !== 'renewed') this.renewals.now();
  }

  private tellLapse(reason: string): void {
    if (this.lapseTold) return;
    this.lapseTold = true;
    this.changed();
    this.emit({ type: 'lease-lost', workerId: this.lastWorkerId, reason });
  }

  private async shutDown(): Promise<void> {
    this.state = 'closed';
    this.changed();
    this.wakeUp();
    await this.starting?.catch(() => undefined);
    await this.renewals.stop();
    if (this.lease !== undefined && (await this.lease.release())) {
      this.emit({ type: 'lease-released', workerId: this.lease.workerId });
    }
    this.lease = undefined;
    await this.ctx.session.close();
  }

  private get isClosing(): boolean {
    return this.closing !== undefined;
  }

  /** Waits, at most until the keeper is closed. */
  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.ctx.ports.timers.setTimer(resolve, ms, 'foreground');
      this.wakeUp = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
