import type { Lane, PerLane, Position } from '../generator/position.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Acquired } from './acquire-row.js';
import { Admission } from './admission.js';
import type { Attempt, HeldRow } from './held-row.js';
import { IssueRate } from './issue-rate.js';
import { validatedNow, writeOf, type LeaseContext } from './lease-context.js';
import { DatabaseRegressionError } from './lease-errors.js';
import type { LeaseEvent } from './lease-events.js';
import { releaseRow } from './release-row.js';
import type { Plan, Reservation } from './reservation.js';

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

/** One tenure of one worker row, from the write that acquired it to the one that gives it back. */
export class HeldLease {
  readonly admission: Admission;
  clockOffsetMs: number;
  private wantedLane: Lane | undefined;
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
    this.admission = new Admission(ctx.ports, ctx.options);
    this.admission.trustClock(acquired.wallMs, acquired.sentMs);
    this.admission.confirm(acquired.sentMs, 0);
  }

  get workerId(): number {
    return this.held.id;
  }

  get wantsFlip(): boolean {
    return this.wantedLane !== undefined;
  }

  wantLane(lane: Lane): void {
    this.wantedLane = lane;
  }

  /** Undefined when IDs may be issued now; takes note of the clock. */
  admit(wallMs: number): RaindropError | undefined {
    this.look(wallMs);
    return this.admission.refusal(this.workerId);
  }

  suspect(reason: string): void {
    this.admission.suspect(this.workerId, reason);
    this.onSuspicion(reason);
  }

  /**
   * Reads the row, settles what is in doubt, and reserves further with one write.
   * @throws StoreUnavailableError when the outcome is unknown; ClockSkewError when this host's clock is far ahead
   */
  async renew(): Promise<Renewal> {
    const { session, ports, options } = this.ctx;
    const { held } = this;
    const begunMs = ports.monotonic.now();
    this.look(ports.clock.refresh());
    const { nowMs, row } = await session.run('re-reading a worker', (store) => store.readRow(held.id));
    const verdict = held.judge(row);
    if (verdict.kind === 'lost') return { outcome: 'lost', reason: verdict.reason };
    if (verdict.kind === 'executed') this.executed(verdict.attempt);
    if (verdict.kind === 'regressed') this.onRegression(row!.version, () => held.rewind(row!));

    const wallMs = this.trustedNow(nowMs);
    const plan = this.plan(Math.min(wallMs, nowMs + options.maxClockSkewMs));
    if (plan === undefined) return this.giveUp();
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
    this.hooks.emit({ type: 'lease-renewed', workerId: held.id, tookMs: ports.monotonic.now() - begunMs });
    return { outcome: 'renewed' };
  }

  /** Gives the row back with what was really issued. The caller has closed before: nothing is issued any more. */
  release(): Promise<boolean> {
    return releaseRow(this.ctx, this.held, {
      lane: this.reservation.lane,
      odometers: () => this.reservation.released(this.used()),
      onExecuted: (attempt) => this.reservation.apply(attempt.plan),
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
    const used = this.used();
    const lane = this.wantedLane ?? this.reservation.lane;
    const demand = { nowMs, horizonMs: options.horizonMs, used, rate: this.rate.measure(used[this.reservation.lane]) };
    return this.admission.isSuspect
      ? this.reservation.planAnew(resolved.firstLane, demand)
      : this.reservation.planRenewal(lane, demand);
  }

  /** Neither lane is below the clock any more: another row serves better. */
  private async giveUp(): Promise<Renewal> {
    const odometers = this.reservation.exhausted;
    await releaseRow(this.ctx, this.held, { lane: this.reservation.lane, odometers: () => odometers });
    return { outcome: 'lost', reason: 'both of its lanes are past the clock' };
  }

  private trustedNow(databaseMs: number): number {
    const { clock, monotonic } = this.ctx.ports;
    this.clockOffsetMs = clock.refresh() - databaseMs;
    try {
      const wallMs = validatedNow(this.ctx, databaseMs, false);
      this.look(wallMs);
      this.admission.trustClock(wallMs, monotonic.now());
      return wallMs;
    } catch (error) {
      this.admission.barWith(error as RaindropError);
      this.hooks.changed();
      throw error;
    }
  }

  private look(wallMs: number): void {
    const reason = this.admission.look(wallMs, this.workerId);
    if (reason !== undefined) this.onSuspicion(reason);
  }

  private onSuspicion(reason: string): void {
    this.hooks.changed();
    this.hooks.confirmNow();
    this.hooks.emit({ type: 'lease-suspect', workerId: this.workerId, reason });
  }

  private onRegression(foundVersion: number, rewind: () => void): void {
    const error = new DatabaseRegressionError(this.workerId, this.held.version, foundVersion);
    rewind();
    this.admission.barWith(error);
    this.hooks.changed();
    this.hooks.emit({ type: 'database-regression', workerId: this.workerId, error });
  }

  private used(): PerLane<Position> {
    return [this.hooks.highest(0), this.hooks.highest(1)];
  }
}
