import type { Lane } from '../generator/tenure.js';
import type { RaindropError } from '../raindrop-error.js';
import type { Acquired } from './acquire-row.js';
import { Admission } from './admission.js';
import { ClockSkewError, DatabaseRegressionError, ForeignTimeZoneError } from './lease-errors.js';
import { type Attempt, type HeldRow, isHeld, releaseRow } from './lease-row.js';
import type { HeldWorker, KeeperHooks, Reached } from './worker-keeper.js';
import { isCoarse, IssueRate, type Plan, type Reservation } from './reservation.js';
import { validatedNow, writeOf, type LeaseContext } from './lease-context.js';
import { checkForeignTimes } from './store-session.js';
import type { WorkerRow } from './worker-store.js';

const LAPSED = 'its lease ran out without a renewal';

/** One tenure of one worker row, from the write that acquired it to the one that gives it back. */
export class HeldLease implements HeldWorker {
  readonly admission: Admission;
  readonly grant: Reservation;
  clockOffsetMs: number;
  private wantedLane: Lane | undefined;
  /** The largest batch that did not fit: batches like it are to fit from then on. */
  private largestBatch = 1;
  private readonly held: HeldRow;
  private readonly rate: IssueRate;

  constructor(
    private readonly ctx: LeaseContext,
    readonly acquired: Acquired,
    private readonly hooks: KeeperHooks,
  ) {
    this.held = acquired.held;
    this.grant = acquired.reservation;
    this.clockOffsetMs = acquired.clockOffsetMs;
    this.rate = new IssueRate(ctx.ports.monotonic);
    this.admission = new Admission(ctx.ports, ctx.options, acquired.sentMs, acquired.trusted);
  }

  get workerId(): number {
    return this.held.id;
  }

  get state(): 'held' | 'suspect' {
    return this.admission.leftMs > 0 ? 'held' : 'suspect';
  }

  get leaseLeftMs(): number {
    return this.admission.leftMs;
  }

  get isLapsed(): boolean {
    return this.admission.isLapsed;
  }

  /** What is sent before the end of the probation does not end it. */
  get renewWithinMs(): number {
    return this.admission.probationLeftMs ?? Number.POSITIVE_INFINITY;
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
  async renew(reached: Reached): Promise<string | undefined> {
    const { session, ports, options } = this.ctx;
    const { held } = this;
    const begunMs = ports.monotonic.now();
    this.look(ports.clock.refresh());
    // The zone of the server may change at any time, and the next program of the original would take this row.
    if (options.sharedWithOriginal) await checkForeignTimes(session).catch((error: unknown) => this.barredBy(error));
    const { nowMs, row } = await session.run('re-reading a worker', (store) => store.readRow(held.id));
    const verdict = held.judge(row);
    if (verdict.kind === 'lost') return verdict.reason;
    if (verdict.kind === 'executed') this.executed(verdict.attempt);
    if (verdict.kind === 'regressed') this.regressed(verdict.row);
    if (this.admission.isLapsed || !isHeld(verdict.row, nowMs, 0)) return this.giveUp(LAPSED, reached);

    const plan = this.plan(this.trustedNow(nowMs), reached);
    if (plan === undefined) return this.giveUp('both of its lanes are past the clock', reached);
    const { suspicions } = this.admission;
    const attempt: Attempt = { token: ports.randomness.token(), plan, sentMs: ports.monotonic.now(), suspicions };
    const expected = { version: held.version, token: held.token };
    const { lane, odometers } = plan;
    const write = writeOf(this.ctx, { id: held.id, expected, token: attempt.token, lane, odometers });
    held.remember(attempt);
    const isWritten = await session.run('renewing a worker', (store) => store.write(write));
    // Somebody wrote in between: the next attempt reads who.
    if (!isWritten) return void this.hooks.renewNow();
    this.executed(attempt);
    if (this.admission.isLapsed) return this.giveUp(LAPSED, reached);
    this.hooks.emit({ type: 'lease-renewed', workerId: held.id, tookMs: ports.monotonic.now() - begunMs });
    return undefined;
  }

  /** Gives the row back with what was really issued. */
  release(reached: Reached): Promise<boolean> {
    this.look(this.ctx.ports.clock.refresh());
    const { admission, grant } = this;
    return releaseRow(this.ctx, this.held, {
      lane: grant.lane,
      // Of a suspect grant a copy of this process may have issued all.
      odometers: () => (admission.isSuspect ? grant.exhausted : grant.released(reached())),
      onExecuted: (attempt) => grant.apply(attempt.plan),
    });
  }

  /** A write of ours is known to be on the row: what it grants is ours. */
  private executed(attempt: Attempt): void {
    const { lane } = attempt.plan;
    if (lane !== this.grant.lane) this.rate.restart();
    this.held.advance(attempt);
    this.grant.apply(attempt.plan);
    this.admission.confirm(attempt.sentMs, attempt.suspicions);
    if (lane === this.wantedLane) {
      this.wantedLane = undefined;
      this.hooks.emit({ type: 'clock-back', workerId: this.workerId, lane });
    }
    this.hooks.changed();
  }

  private plan(nowMs: number, reached: Reached): Plan | undefined {
    const { resolved, options } = this.ctx;
    // Asked of every code there is: only where it matters.
    const used = isCoarse(resolved.layout) ? reached() : this.grant.base;
    const rate = this.rate.measure(used[this.grant.lane]);
    const demand = { nowMs, horizonMs: options.horizonMs, used, rate, batch: this.largestBatch };
    if (!this.admission.isSuspect) return this.grant.planRenewal(this.wantedLane ?? this.grant.lane, demand);
    this.wantedLane = undefined;
    return this.grant.planAnew(resolved.firstLane, demand);
  }

  /** Ends this tenure from within: another row, or a fresh grant of this one, serves better. */
  private async giveUp(reason: string, reached: Reached): Promise<string> {
    this.admission.end();
    this.hooks.changed();
    await this.release(reached);
    return reason;
  }

  private trustedNow(databaseMs: number): number {
    this.clockOffsetMs = this.ctx.ports.clock.refresh() - databaseMs;
    try {
      const wallMs = validatedNow(this.ctx, databaseMs, false);
      this.look(wallMs);
      this.admission.trustClock(wallMs);
      return wallMs;
    } catch (error) {
      return this.barredBy(error);
    }
  }

  /** A clock or a zone that is wrong bars issuing until a renewal finds it right. */
  private barredBy(error: unknown): never {
    if (error instanceof ClockSkewError || error instanceof ForeignTimeZoneError) this.bar(error);
    throw error;
  }

  private bar(error: RaindropError): void {
    this.admission.barWith(error);
    this.hooks.changed();
  }

  private look(wallMs: number): void {
    const reason = this.admission.look(wallMs, this.workerId);
    if (reason === undefined) return;
    this.hooks.changed();
    this.hooks.renewNow();
    this.hooks.emit({ type: 'lease-suspect', workerId: this.workerId, reason });
  }

  private regressed(found: WorkerRow): void {
    const error = new DatabaseRegressionError(this.workerId, this.held.version, found.version);
    this.held.rewind(found);
    this.bar(error);
    this.hooks.emit({ type: 'database-regression', workerId: this.workerId, error });
  }
}
