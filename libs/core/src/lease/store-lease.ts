import { isCoarse } from '../time/timeline.js';
import type { Lane } from '../generator/tenure.js';
import type { RaindropError } from '../raindrop-error.js';
import type { AcquiredRow } from './acquire-row.js';
import { Admission } from './admission.js';
import { validatedNow, writeOf, type LeaseContext } from './lease-context.js';
import { ClockSkewError, DatabaseRegressionError, ForeignTimeZoneError } from './lease-errors.js';
import { type LeaseRow, releaseRow, type SentWrite } from './lease-row.js';
import { IssueRate, type Grant, type Reservation } from './reservation.js';
import { checkForeignTimes } from './store-session.js';
import { type BegunLease, begunLease } from './lease-history.js';
import type { Lease, KeeperHooks, HighestIssued } from './worker-keeper.js';
import { isHeld, type WorkerRow } from './worker-store.js';

const LAPSED = 'its lease ran out without a renewal';

/** One lease of one worker row, from the write that acquired the row to the one that gives it back. */
export class StoreLease implements Lease {
  readonly admission: Admission;
  readonly reservation: Reservation;
  clockOffsetMs: number;
  private requestedLane: Lane | undefined;
  /** The largest batch that did not fit: reservations leave room for batches like it from then on. */
  private largestBatch = 1;
  private readonly leaseRow: LeaseRow;
  private readonly rate: IssueRate;
  /** What a history records of this lease's begin; undefined where none is kept. */
  readonly begun: BegunLease | undefined;

  constructor(
    private readonly ctx: LeaseContext,
    readonly acquired: AcquiredRow,
    private readonly hooks: KeeperHooks,
  ) {
    this.leaseRow = acquired.leaseRow;
    this.reservation = acquired.reservation;
    this.clockOffsetMs = acquired.clockOffsetMs;
    this.rate = new IssueRate(ctx.ports.monotonic);
    this.admission = new Admission(ctx.ports, ctx.options, acquired.sentMs, acquired.trusted);
    if (ctx.mark !== undefined) {
      const { leaseRow, reservation, found, trusted } = acquired;
      // A clock that goes back further than this makes IDs that the history names no process for.
      const earliestMs = trusted.wallMs - ctx.options.maxClockSkewMs;
      const { layout } = ctx.resolved;
      this.begun = begunLease(layout, ctx.mark, leaseRow, { start: reservation.base, found, earliestMs });
    }
  }

  /** False in a copy of the process that has acquired the row. */
  get isOriginal(): boolean {
    return this.ctx.mark?.isOurs() !== false;
  }

  get workerId(): number {
    return this.leaseRow.id;
  }

  get state(): 'held' | 'suspect' | 'lost' {
    if (this.isLapsed) return 'lost';
    return this.admission.leftMs > 0 ? 'held' : 'suspect';
  }

  get leaseLeftMs(): number {
    return this.admission.leftMs;
  }

  get isLapsed(): boolean {
    return this.admission.isLapsed;
  }

  /**
   * The renewal that ends the probation is sent when the commit-loss window has passed. A renewal that was sent before
   * does not end it: another server may have executed it. Example: window 10 s, renewal sent at 9.9 s and answered at
   * 10.1 s.
   */
  get renewWithinMs(): number {
    return this.admission.probationLeftMs ?? Number.POSITIVE_INFINITY;
  }

  get isFlipRequested(): boolean {
    return this.requestedLane !== undefined;
  }

  expectBatch(batch: number): void {
    this.largestBatch = Math.max(this.largestBatch, batch);
  }

  requestLane(lane: Lane): void {
    this.requestedLane = lane;
  }

  /** Undefined when IDs may be issued now. Also checks the clocks. */
  admit(wallMs: number): RaindropError | undefined {
    this.checkClocks(wallMs);
    return this.admission.refusal(this.workerId);
  }

  /**
   * Reads the row, settles which of our writes were executed, and reserves further with one write. A lease that has
   * lapsed is given back, not revived: since its end other processes may have judged the table, and the layouts in it,
   * as if this process were gone.
   * @returns why the lease is over; undefined while it goes on
   * @throws StoreUnavailableError when the outcome is unknown; ClockSkewError when this host's clock is far ahead
   */
  async renew(highestIssued: HighestIssued): Promise<string | undefined> {
    const { session, ports, options } = this.ctx;
    const { leaseRow } = this;
    const begunMs = ports.monotonic.now();
    this.checkClocks(ports.clock.refresh());
    // An operator may change the server's zone at any time; a program of the original would then take this row.
    if (options.sharedWithOriginal) await checkForeignTimes(session).catch((error: unknown) => this.blockOn(error));
    const { nowMs, row } = await session.run('re-reading a worker', (store) => store.readRow(leaseRow.id));
    const verdict = leaseRow.judge(row);
    if (verdict.kind === 'lost') return verdict.reason;
    if (verdict.kind === 'executed') this.applyWrite(verdict.write);
    if (verdict.kind === 'regressed') this.handleRegression(verdict.row);
    if (this.admission.isLapsed || !isHeld(verdict.row, nowMs, 0)) return this.giveUp(LAPSED, highestIssued);

    const grant = this.nextGrant(this.trustedNow(nowMs), highestIssued);
    if (grant === undefined) return this.giveUp('both of its lanes are ahead of the clock', highestIssued);
    const { suspicions } = this.admission;
    const sent: SentWrite = { token: ports.randomness.token(), grant, sentMs: ports.monotonic.now(), suspicions };
    const expected = { version: leaseRow.version, token: leaseRow.token };
    const { lane, odometers } = grant;
    const write = writeOf(this.ctx, { id: leaseRow.id, expected, token: sent.token, lane, odometers });
    leaseRow.addSent(sent);
    const isWritten = await session.run('renewing a worker', (store) => store.write(write));
    // Another program wrote the row between our read and our write. The next attempt reads which one. This attempt is
    // neither a renewal nor a failure.
    if (!isWritten) return void this.hooks.renewNow();
    this.applyWrite(sent);
    if (this.admission.isLapsed) return this.giveUp(LAPSED, highestIssued);
    this.hooks.emit({ type: 'lease-renewed', workerId: leaseRow.id, tookMs: ports.monotonic.now() - begunMs });
    return undefined;
  }

  /** Gives the row back, its odometers at the positions that were really issued. */
  async release(highestIssued: HighestIssued): Promise<boolean> {
    this.checkClocks(this.ctx.ports.clock.refresh());
    const { admission, reservation } = this;
    let odometers = reservation.exhaustedOdometers;
    const isReleased = await releaseRow(this.ctx, this.leaseRow, {
      lane: reservation.lane,
      // While the lease is suspect, a copy of this process may have issued all that was granted.
      odometers: () =>
        (odometers = admission.isSuspect
          ? reservation.exhaustedOdometers
          : reservation.releasedOdometers(highestIssued())),
      onExecuted: (sent) => reservation.apply(sent.grant),
    });
    if (isReleased && this.begun !== undefined && this.isOriginal) this.ctx.history?.end(this.begun, odometers);
    return isReleased;
  }

  /** A write of ours was executed: its grant is ours. */
  private applyWrite(sent: SentWrite): void {
    const { lane } = sent.grant;
    if (lane !== this.reservation.lane) this.rate.restart();
    this.leaseRow.advance(sent);
    this.reservation.apply(sent.grant);
    this.admission.confirm(sent.sentMs, sent.suspicions);
    if (lane === this.requestedLane) {
      this.requestedLane = undefined;
      this.hooks.emit({ type: 'clock-back', workerId: this.workerId, lane });
    }
    this.hooks.changed();
  }

  /** Undefined when everything granted so far has to be given up and neither lane is below the clock then. */
  private nextGrant(nowMs: number, highestIssued: HighestIssued): Grant | undefined {
    const { resolved, options } = this.ctx;
    // The answer costs a look at every code: it matters for coarse units only.
    const used = isCoarse(resolved.layout) ? highestIssued() : this.reservation.base;
    const rate = this.rate.measure(used[this.reservation.lane]);
    const demand = { nowMs, horizonMs: options.horizonMs, used, rate, batch: this.largestBatch };
    if (!this.admission.isSuspect)
      return this.reservation.nextGrant(this.requestedLane ?? this.reservation.lane, demand);
    this.requestedLane = undefined;
    return this.reservation.grantAfterSuspicion(resolved.firstLane, demand);
  }

  /** Ends this lease and gives the row back: the keeper acquires another row, or this one anew. */
  private async giveUp(reason: string, highestIssued: HighestIssued): Promise<string> {
    this.admission.end();
    this.hooks.changed();
    await this.release(highestIssued);
    return reason;
  }

  /** This host's clock, checked against the database's; jumps are measured from here on. @throws ClockSkewError */
  private trustedNow(databaseMs: number): number {
    this.clockOffsetMs = this.ctx.ports.clock.refresh() - databaseMs;
    try {
      const wallMs = validatedNow(this.ctx, databaseMs, false);
      this.checkClocks(wallMs);
      this.admission.trustClock(wallMs);
      return wallMs;
    } catch (error) {
      return this.blockOn(error);
    }
  }

  /** A wrong clock or zone blocks issuing until a renewal finds it right. */
  private blockOn(error: unknown): never {
    if (error instanceof ClockSkewError || error instanceof ForeignTimeZoneError) this.block(error);
    throw error;
  }

  private block(error: RaindropError): void {
    this.admission.block(error);
    this.hooks.changed();
  }

  /** A jump of the clock, a standstill or a copy of the process makes the lease suspect until the next renewal. */
  private checkClocks(wallMs: number): void {
    const reason = this.admission.checkClocks(wallMs, this.workerId);
    if (reason === undefined) return;
    this.hooks.changed();
    this.hooks.renewNow();
    this.hooks.emit({ type: 'lease-suspect', workerId: this.workerId, reason });
  }

  /** The database has lost our latest writes: nothing is issued until a renewal has raised the odometers again. */
  private handleRegression(found: WorkerRow): void {
    const error = new DatabaseRegressionError(this.workerId, this.leaseRow.version, found.version);
    this.leaseRow.rewind(found);
    this.block(error);
    this.hooks.emit({ type: 'database-regression', workerId: this.workerId, error });
  }
}
