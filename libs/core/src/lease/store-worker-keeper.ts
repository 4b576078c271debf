import type { Lane } from '../generator/tenure.js';
import { acquireRow } from './acquire-row.js';
import { StoreLease } from './store-lease.js';
import type { LeaseContext } from './lease-context.js';
import type { WorkerCensus } from './lease-errors.js';
import { type LeaseEvent, WorkerKeeper } from './worker-keeper.js';
import { LeaseStart } from './lease-start.js';

/**
 * Keeps one row of the worker table: acquires it, renews it, reserves ahead of the generator, gives it back, and takes
 * another when it was lost.
 *
 * What makes IDs unique is the odometer alone: a grant is written to the row before anything in it is issued, by a
 * compare-and-swap on version and token, and the next holder starts after it. Lease and clocks decide only when a row
 * changes hands and which granted position is used.
 */
export class StoreWorkerKeeper extends WorkerKeeper<StoreLease> {
  private readonly ctx: LeaseContext;
  private readonly leaseStart: LeaseStart;
  private starting: Promise<void> | undefined;

  /** @param listener whatever it throws or rejects with stops nothing, and nobody hears of it */
  constructor(context: LeaseContext, listener: (event: LeaseEvent) => void) {
    super(context.ports, context.options.heartbeatIntervalMs, listener);
    this.ctx = { ...context, ports: this.ports };
    this.leaseStart = new LeaseStart(this.ctx, {
      acquire: async () => {
        const first = await this.acquireLease();
        await this.beginLease(first);
        this.warnOfFewWorkers(first.acquired.census);
        this.renewals.start();
      },
      refusal: () => this.admit(this.ports.clock.refresh()),
      warn: (message) => this.hooks.emit({ type: 'warning', message }),
    });
  }

  /** True while a write that reserves the other lane is under way. */
  get flipping(): boolean {
    return this.lease?.isFlipRequested === true && this.renewals.isBusy;
  }

  /**
   * Creates what is missing in the database and acquires a worker id; settles when IDs can be issued. When it fails the
   * keeper is closed.
   * @throws NoFreeWorkerError when all are taken and `waitForWorkerMs` is over; LayoutConflictError; ClockSkewError;
   * ConfigurationError; StoreUnavailableError; ClosedError; what the store throws on a table it cannot use
   */
  async start(): Promise<void> {
    this.starting ??= this.leaseStart.run();
    try {
      await this.starting;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Asks for a later limit by a renewal that is sent soon. Cheap to call often. */
  requestExtension(wanted = 1): void {
    this.lease?.expectBatch(wanted);
    this.renewals.requestSoon();
  }

  /** Asks for a reservation on the other lane by a renewal that is sent soon. */
  requestFlip(lane: Lane): void {
    this.lease?.requestLane(lane);
    this.renewals.requestSoon();
  }

  protected async acquireLease(): Promise<StoreLease> {
    return new StoreLease(this.ctx, await acquireRow(this.ctx), this.hooks);
  }

  protected override async cancelStart(): Promise<void> {
    this.leaseStart.cancel();
    await this.starting?.catch(() => undefined);
  }

  protected override disconnect(): Promise<void> {
    return this.ctx.session.close();
  }

  /** A range of one is meant so; in any other a crash or a rolling update needs rows that nobody holds. */
  private warnOfFewWorkers({ total, live }: Pick<WorkerCensus, 'total' | 'live'>): void {
    const held = live + 1;
    if (total === 1 || held <= total / 2) return;
    const message = `${held} of ${total} worker ids are held: widen serviceMinWorkId..serviceMaxWorkId to twice the number of nodes`;
    this.hooks.emit({ type: 'warning', message });
  }
}
