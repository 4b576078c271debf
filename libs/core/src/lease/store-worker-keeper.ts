import { DAY_MS } from '../time/timeline.js';
import type { Lane } from '../generator/tenure.js';
import { planLayout } from '../layout/layout-advice.js';
import type { Layout } from '../layout/layout.js';
import type { RaindropError } from '../raindrop-error.js';
import { acquireRow, sampleFor } from './acquire-row.js';
import { type LeaseContext, markedContext } from './lease-context.js';
import { ClosedError, type NoFreeWorkerError, type WorkerCensus } from './lease-errors.js';
import { startPolicy } from './row-policy.js';
import { retryStartStep } from './start-retries.js';
import { StoreLease } from './store-lease.js';
import { WorkerKeeper } from './worker-keeper.js';
import type { WorkerSample } from './worker-store.js';

/** How often a start asks whether IDs can be issued, ms. */
const POLL_MS = 50;

/** How long a cancelled start may still take, ms: it may have a worker id to give back. */
const CANCEL_MS = 1_500;

/** A wait that takes so much longer than the last warning said is warned of again, ms. */
const WARN_AGAIN_MS = 10_000;

/**
 * Keeps one row of the worker table: acquires it, renews it, reserves ahead of the generator, gives it back, and
 * acquires another row after a loss.
 * The odometer alone makes IDs unique: a grant is written to the row before anything in it is issued, by a
 * compare-and-swap on version and token, and the next holder starts after it. Lease and clocks decide only when a row
 * changes hands and which granted position is used.
 */
export class StoreWorkerKeeper extends WorkerKeeper<StoreLease> {
  private readonly ctx: LeaseContext;
  /** A few free rows, where the look at the table has told them; the first try to acquire one uses them up. */
  private sample: WorkerSample | undefined;
  private starting: Promise<void> | undefined;
  private isStarting = false;
  private isStartCancelled = false;
  /** Ends the start's present pause. */
  private wakeUp: () => void = () => {};
  /** Monotonic ms up to which the start has said that it waits. */
  private warnedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(context: LeaseContext) {
    super(context.ports, context.options.heartbeatIntervalMs);
    this.ctx = { ...context, ports: this.ports };
    const expiry = new ExpiryWatch(context.resolved.layout, context.ports.clock.now());
    this.onEvent(({ type }) => {
      const message = type === 'lease-renewed' ? expiry.check(context.ports.clock.now()) : undefined;
      if (message !== undefined) this.warn(message);
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
    this.starting ??= this.runStart();
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
    const ctx = this.ctx.history === undefined ? this.ctx : markedContext(this.ctx);
    const { sample } = this;
    this.sample = undefined;
    return new StoreLease(ctx, await acquireRow(ctx, startPolicy(ctx.resolved, ctx.options), sample), this.hooks);
  }

  /** IDs can be issued before the lease is recorded, and whether or not it can be. */
  protected override async beginLease(lease: StoreLease): Promise<void> {
    await super.beginLease(lease);
    const { begun } = lease;
    // A fork of the process acquires no row of its own here: the lease is the original's, which records it.
    if (begun !== undefined && lease.isOriginal) this.ctx.history?.begin(begun);
  }

  /** No further step is tried, and the one under way has little time left. */
  protected override async cancelStart(): Promise<void> {
    this.isStartCancelled = true;
    this.wakeUp();
    if (this.isStarting) this.ctx.session.endWithin(CANCEL_MS);
    await this.starting?.catch(() => undefined);
  }

  protected override async disconnect(): Promise<void> {
    await Promise.all([this.ctx.session.close(), this.ctx.history?.close()]);
  }

  private async runStart(): Promise<void> {
    this.isStarting = true;
    try {
      await this.startSteps();
    } finally {
      this.isStarting = false;
    }
  }

  /** From nothing to the first ID: the table, a row, the end of the probation. */
  private async startSteps(): Promise<void> {
    const { session, options, resolved, ports } = this.ctx;
    const wanted = sampleFor(this.ctx, startPolicy(resolved, options));
    await this.retry(async () => {
      const askedMs = ports.monotonic.now();
      const sample = await session.prepare(resolved.workers, wanted);
      // A look has the time of ten reads. A late one would make clocks look apart, or hide that they are.
      const isLate = ports.monotonic.now() - askedMs > options.opTimeoutMs;
      this.sample = isLate ? undefined : sample;
    });
    await this.retry(() => this.acquireFirst());
    const giveUpAt = ports.monotonic.now() + options.commitLossWindowMs + 10 * options.opTimeoutMs;
    for (let refusal = this.refusal(); refusal !== undefined; refusal = this.refusal()) {
      if (ports.monotonic.now() >= giveUpAt) throw refusal;
      await this.pause(POLL_MS);
    }
    // The first ID does not wait for advice.
    void this.warnOfLostCommits();
  }

  private async acquireFirst(): Promise<void> {
    const first = await this.acquireLease();
    await this.beginLease(first);
    this.warnOfFewWorkers(first.acquired.census);
    this.renewals.start();
  }

  private refusal(): RaindropError | undefined {
    return this.admit(this.ports.clock.refresh());
  }

  private retry(step: () => Promise<void>): Promise<void> {
    const { options, ports } = this.ctx;
    return retryStartStep(step, {
      ports,
      waitForWorkerMs: options.waitForWorkerMs,
      isCancelled: () => this.isStartCancelled,
      pause: (ms) => this.pause(ms),
      onBarred: (error) => this.warnOfWait(error),
    });
  }

  /** Waits, at most until the start is cancelled. @throws ClosedError when it is */
  private async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.ctx.ports.timers.setTimer(resolve, ms, 'foreground');
      this.wakeUp = () => {
        timer.cancel();
        resolve();
      };
      if (this.isStartCancelled) this.wakeUp();
    });
    if (this.isStartCancelled) throw new ClosedError();
  }

  private warnOfWait({ barredForMs }: NoFreeWorkerError): void {
    const until = this.ctx.ports.monotonic.now() + barredForMs;
    if (until < this.warnedUntilMs + WARN_AGAIN_MS) return;
    this.warnedUntilMs = until;
    this.warn(
      `the database has failed over, lost rows or was fenced: this start waits ` +
        `${Math.ceil(barredForMs / 1_000)} s, until every earlier grant is past; processes that hold a worker id ` +
        `continue`,
    );
  }

  /**
   * A crash or a rolling update needs rows that no process holds. An operator who configures a range of one row knows
   * that there is no spare one: no warning then.
   */
  private warnOfFewWorkers({ total, live }: Pick<WorkerCensus, 'total' | 'live'>): void {
    const held = live + 1;
    if (total === 1 || held <= total / 2) return;
    this.warn(
      `${held} of ${total} worker ids are held: widen serviceMinWorkId..serviceMaxWorkId to twice the number of nodes`,
    );
  }

  /**
   * Settings that can lose commits are no concern where `commitLossWindowMs` covers them. A check that fails says
   * nothing.
   */
  private async warnOfLostCommits(): Promise<void> {
    const { session, options } = this.ctx;
    if (options.commitLossWindowMs > 0) return;
    const checking = session.run('checking durability', (store) => store.durabilityWarnings());
    for (const problem of await checking.catch(() => [])) this.warn(problem);
  }

  private warn(message: string): void {
    this.hooks.emit({ type: 'warning', message });
  }
}

/**
 * Checks once a day whether the layout's last year has begun. The warning at the start says so for a process that
 * starts in that year; a process that runs into it hears of it here.
 */
class ExpiryWatch {
  private checkedMs: number;

  /** @param startMs the wall clock at the start, which checks by itself */
  constructor(
    private readonly layout: Layout,
    startMs: number,
  ) {
    this.checkedMs = startMs;
  }

  /** @returns the warning; undefined when the layout lasts, or when the last check was less than a day ago */
  check(nowMs: number): string | undefined {
    if (Math.abs(nowMs - this.checkedMs) < DAY_MS) return undefined;
    this.checkedMs = nowMs;
    const { warnings } = planLayout({ layout: this.layout }, nowMs);
    return warnings.find(({ code }) => code === 'EXPIRES_SOON')?.message;
  }
}
