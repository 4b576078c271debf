import type { Lane, PerLane, Position } from '../generator/position.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Acquired } from './acquire-row.js';
import { Admission } from './admission.js';
import { ForeignTimeZoneError } from './foreign-errors.js';
import type { Attempt, HeldRow } from './held-row.js';
import { IssueRate } from './issue-rate.js';
import { validatedNow, writeOf, type LeaseContext } from './lease-context.js';
import { DatabaseRegressionError } from './lease-errors.js';
import type { LeaseEvent } from './lease-events.js';
import { isHeld } from './liveness.js';
import { releaseRow } from './release-row.js';
import type { Plan, Reservation } from './reservation.js';
import { checkForeignTimes } from './store-session.js';
import { isCoarse } from './target.js';
import type { WorkerRow } from './worker-store.js';

/** Who is told what happens to a lease, and who knows what was issued under it. */
export interface LeaseHooks {
  /** What may be issued has changed. */
  readonly changed: () => void;
  /** The lease must be confirmed before anything more is issued. */
  readonly confirmNow: () => void;
  readonly emit: (event: LeaseEvent) => void;
  /** The highest position issued on a lane in this tenure. */
  readonly highest: (lane: Lane) => Position;
}

/** How a renewal ended. `contended`: somebody wrote in between, the next attempt reads who. */
export type Renewal =
  { readonly outcome: 'renewed' | 'contended' } | { readonly outcome: 'lost'; readonly reason: string };

const LAPSED = 'its lease ran out without a renewal';

/** One tenure of one worker row, from the write that acquired it to the one that gives it back. */
export class HeldLease {
  readonly admission: Admission;
  clockOffsetMs: number;
  private wantedLane: Lane | undefined;
  /** The largest batch that did not fit: batches like it are to fit from then on. */
  private largestBatch = 1;
  private readonly held: HeldRow;
  private readonly rate: IssueRate;

  constructor(
    private readonly ctx: LeaseContext,
    acquired: Acquired,
    readonly reservation: Reservation,
    private readonly hooks: LeaseHooks,
  ) {
    this.held = acquired.held;
    this.clockOffsetMs = acquired.clockOffsetMs;
    this.rate = new IssueRate(ctx.ports.monotonic);
    this.reservation.begin(acquired.start, acquired.plan);
    this.admission = new Admission(ctx.ports, ctx.options, acquired.sentMs, acquired.trusted);
  }

  get workerId(): number {
    return this.held.id;
  }

  get wantsFlip(): boolean {
    return this.wantedLane !== undefined;
  }

  want(batch: number): void {
    this.largestBatch = Math.max(this.largestBatch, batch);
  }

  wantLane(lane: Lane): void {
    this.wantedLane = lane;
  }

  /** Undefined when IDs may be issued now; takes note of the clock. */
  admit(wallMs: number): RaindropError | undefined {
    this.look(wallMs);
    return this.admission.refusal(this.workerId);
  }

  /**
   * Reads the row, settles what is in doubt, and reserves further with one write. A lease that has lapsed is not revived
   * but given back: since then others may have judged the table, and the layouts in it, as if we were gone.
   * @throws StoreUnavailableError when the outcome is unknown; ClockSkewError when this host's clock is far ahead
   */
  async renew(): Promise<Renewal> {
    const { session, ports, options } = this.ctx;
    const { held } = this;
    const begunMs = ports.monotonic.now();
    this.look(ports.clock.refresh());
    if (options.sharedWithOriginal) await this.checkForeignTimes();
    const { nowMs, row } = await session.run('re-reading a worker', (store) => store.readRow(held.id));
    const verdict = held.judge(row);
    if (verdict.kind === 'lost') return { outcome: 'lost', reason: verdict.reason };
    if (verdict.kind === 'executed') this.executed(verdict.attempt);
    if (verdict.kind === 'regressed') this.regressed(verdict.row);
    if (this.admission.isLapsed || !isHeld(verdict.row, nowMs, 0)) return this.giveUp(LAPSED);

    const plan = this.plan(this.trustedNow(nowMs));
    if (plan === undefined) return this.giveUp('both of its lanes are past the clock');
    const attempt: Attempt = {
      token: ports.randomness.token(),
      plan,
      sentMs: ports.monotonic.now(),
      suspicions: this.admission.suspicions,
    };
    const expected = { version: held.version, token: held.token };
    const { lane, odometers } = plan;
    const write = writeOf(this.ctx, { id: held.id, expected, token: attempt.token, lane, odometers });
    held.remember(attempt);
    if (!(await session.run('renewing a worker', (store) => store.write(write)))) return { outcome: 'contended' };
    this.executed(attempt);
    if (this.admission.isLapsed) return this.giveUp(LAPSED);
    this.hooks.emit({ type: 'lease-renewed', workerId: held.id, tookMs: ports.monotonic.now() - begunMs });
    return { outcome: 'renewed' };
  }

  /** Gives the row back with what was really issued. The caller has closed before: nothing is issued any more. */
  release(): Promise<boolean> {
    this.look(this.ctx.ports.clock.refresh());
    const { admission, reservation } = this;
    return releaseRow(this.ctx, this.held, {
      lane: reservation.lane,
      // Of a suspect grant a copy of this process may have issued all.
      odometers: () => (admission.isSuspect ? reservation.exhausted : reservation.released(this.used())),
      onExecuted: (attempt) => reservation.apply(attempt.plan),
    });
  }

  /** A write of ours is known to be on the row: what it grants is ours. */
  private executed(attempt: Attempt): void {
    const { lane } = attempt.plan;
    if (lane !== this.reservation.lane) this.rate.restart();
    this.held.advance(attempt);
    this.reservation.apply(attempt.plan);
    this.admission.confirm(attempt.sentMs, attempt.suspicions);
    if (lane === this.wantedLane) {
      this.wantedLane = undefined;
      this.hooks.emit({ type: 'clock-back', workerId: this.workerId, lane });
    }
    this.hooks.changed();
  }

  private plan(nowMs: number): Plan | undefined {
    const { resolved, options } = this.ctx;
    // Asked of every code there is: only where it matters.
    const used = isCoarse(resolved.layout) ? this.used() : this.reservation.base;
    const rate = this.rate.measure(used[this.reservation.lane]);
    const demand = { nowMs, horizonMs: options.horizonMs, used, rate, batch: this.largestBatch };
    if (!this.admission.isSuspect)
      return this.reservation.planRenewal(this.wantedLane ?? this.reservation.lane, demand);
    this.wantedLane = undefined;
    return this.reservation.planAnew(resolved.firstLane, demand);
  }

  /** Ends this tenure from within: another row, or a fresh grant of this one, serves better. */
  private async giveUp(reason: string): Promise<Renewal> {
    this.admission.end();
    this.hooks.changed();
    await this.release();
    return { outcome: 'lost', reason };
  }

  private trustedNow(databaseMs: number): number {
    this.clockOffsetMs = this.ctx.ports.clock.refresh() - databaseMs;
    try {
      const wallMs = validatedNow(this.ctx, databaseMs, false);
      this.look(wallMs);
      this.admission.trustClock(wallMs);
      return wallMs;
    } catch (error) {
      throw this.barredBy(error as RaindropError);
    }
  }

  /** The zone of the server may change at any time, and the next program of the original would take this row. */
  private async checkForeignTimes(): Promise<void> {
    await checkForeignTimes(this.ctx.session).catch((error: unknown) => {
      throw error instanceof ForeignTimeZoneError ? this.barredBy(error) : (error as RaindropError);
    });
  }

  private barredBy(error: RaindropError): RaindropError {
    this.admission.barWith(error);
    this.hooks.changed();
    return error;
  }

  private look(wallMs: number): void {
    const reason = this.admission.look(wallMs, this.workerId);
    if (reason === undefined) return;
    this.hooks.changed();
    this.hooks.confirmNow();
    this.hooks.emit({ type: 'lease-suspect', workerId: this.workerId, reason });
  }

  private regressed(found: WorkerRow): void {
    const error = new DatabaseRegressionError(this.workerId, this.held.version, found.version);
    this.held.rewind(found);
    this.barredBy(error);
    this.hooks.emit({ type: 'database-regression', workerId: this.workerId, error });
  }

  private used(): PerLane<Position> {
    return [this.hooks.highest(0), this.hooks.highest(1)];
  }
}
