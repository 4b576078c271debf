import { BEFORE_ALL, type Lane, type PerLane, type Position } from '../generator/position.js';
import type { Tenure } from '../generator/tenure.js';
import type { RaindropError } from '../raindrop-error.js';
import type { LeaseContext } from './lease-context.js';
import type { LeaseEvent } from './lease-events.js';
import { LeaseHolding } from './lease-holding.js';
import { LeaseStart } from './lease-start.js';
import type { LeaseStatus } from './lease-status.js';
import { RenewalClock } from './renewal-clock.js';
import { tellQuietly } from './tell-quietly.js';

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
  private readonly ctx: LeaseContext;
  private readonly holding: LeaseHolding;
  private readonly beginning: LeaseStart;
  private readonly renewals: RenewalClock;
  private restores = 0;
  private changed: () => void = () => {};
  /** Unless somebody knows better, all that was granted was issued. */
  private highest: (lane: Lane) => Position = (lane) => this.limit[lane];
  private starting: Promise<void> | undefined;
  private closing: Promise<void> | undefined;

  /** @param listener whatever it throws or rejects with stops nothing, and nobody hears of it */
  constructor(
    context: LeaseContext,
    private readonly listener: (event: LeaseEvent) => void,
  ) {
    // A copy in another process and a restored snapshot are the same to us: this memory may live twice. One number, then.
    const processId = (): number => context.ports.processId() + this.restores * 2 ** 32;
    this.ctx = { ...context, ports: { ...context.ports, processId } };
    this.holding = new LeaseHolding(this.ctx, {
      changed: () => tellQuietly(this.changed),
      confirmNow: () => this.renewals.now(),
      emit: (event) => tellQuietly(this.listener, event),
      highest: (lane) => this.highest(lane),
    });
    const probationLeftMs = (): number | undefined => this.holding.lease?.admission.probationLeftMs;
    const attempt = async (): Promise<boolean> => {
      const succeeded = await this.holding.attend();
      // What was sent before the end of the probation does not end it.
      if (succeeded && probationLeftMs() === 0) this.renewals.soon();
      return succeeded;
    };
    this.renewals = new RenewalClock(this.ctx, attempt, () => probationLeftMs() || Number.POSITIVE_INFINITY);
    this.beginning = new LeaseStart(this.ctx, {
      acquire: async () => {
        await this.holding.acquire();
        this.renewals.start();
      },
      refusal: () => this.admit(context.ports.clock.refresh()),
      warn: (message) => tellQuietly(this.listener, { type: 'warning', message }),
    });
  }

  get workerId(): number {
    return this.holding.workerId;
  }

  get number(): number {
    return this.holding.number;
  }

  get lane(): Lane {
    return this.holding.lease?.reservation.lane ?? 0;
  }

  get base(): PerLane<Position> {
    return this.holding.lease?.reservation.base ?? NOTHING;
  }

  get limit(): PerLane<Position> {
    return this.holding.lease?.reservation.limit ?? NOTHING;
  }

  get soft(): PerLane<Position> {
    return this.holding.lease?.reservation.soft ?? NOTHING;
  }

  get flipping(): boolean {
    return this.holding.lease?.wantsFlip === true && this.renewals.isBusy;
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
    this.starting ??= this.beginning.run();
    try {
      await this.starting;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  admit(wallMs: number): RaindropError | undefined {
    return this.holding.admit(wallMs);
  }

  requestExtension(wanted = 1): void {
    this.holding.lease?.want(wanted);
    this.renewals.soon();
  }

  requestFlip(lane: Lane): void {
    this.holding.lease?.wantLane(lane);
    this.renewals.soon();
  }

  /** To be called when this process's memory was restored from a snapshot: nothing granted before is used any more. */
  afterRestore(): void {
    this.restores++;
    this.admit(this.ctx.ports.clock.refresh());
  }

  /**
   * Stops issuing for ever, then gives the row back; the next holder may take it at once. Never rejects: a row that
   * cannot be given back comes free when its lease ends.
   */
  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  /** What is held, how long yet, and how the renewals went. */
  status(): LeaseStatus {
    const { lease, state, tally, lastError } = this.holding;
    const refusal = lease?.admission.refusal(lease.workerId);
    const left = lease === undefined ? 0 : lease.admission.deadlineMs - this.ctx.ports.monotonic.now();
    return {
      state: state === 'held' && refusal !== undefined ? 'suspect' : state,
      workerId: lease?.workerId,
      lane: this.lane,
      leaseLeftMs: refusal === undefined ? Math.max(0, left) : 0,
      base: this.base,
      limit: this.limit,
      clockOffsetMs: lease?.clockOffsetMs,
      ...tally,
      lastError,
    };
  }

  private async shutDown(): Promise<void> {
    this.holding.close();
    this.beginning.end();
    await this.starting?.catch(() => undefined);
    await this.renewals.stop();
    await this.holding.release();
    await this.ctx.session.close();
  }
}
