import { pause } from '../async.js';
import { ConfigurationError, type ConfigurationProblem } from '../config/option-reader.js';
import { comparePositions, type Lane, type Position } from '../generator/tenure.js';
import { InvalidPartError } from '../layout/layout-errors.js';
import type { Layout } from '../layout/layout.js';
import { PermanentError } from '../raindrop-error.js';
import { MAX_DATE_MS } from '../time/timeline.js';
import { type AcquiredRow, acquireRow } from './acquire-row.js';
import type { LeaseContext } from './lease-context.js';
import { StoreUnavailableError } from './lease-errors.js';
import { releaseRow } from './lease-row.js';
import { backfillPolicy, type PastRange } from './row-policy.js';
import { noWaitPolicy, retryStartStep } from './start-retries.js';

/** What a reservation of the past needs. */
export interface PastContext extends LeaseContext {
  readonly past: PastRange;
}

/**
 * Reserves a stretch of the past on one lane of one worker row, and gives the row back.
 *
 * One write raises the lane's odometer from below `fromMs` to the end of the tick of `toMs`. From then on no process is
 * ever granted a position between the two, because every holder starts after the odometer. So the reservation needs no
 * lease: it outlives the row's next holders, outages and restarts of the database.
 *
 * Where commits can be lost, the row is held until its acquiring write can be lost no more, and then looked at again:
 * only the token of that write proves that it was not lost.
 * @param maxAheadMs see {@link PastIds}
 * @throws ConfigurationError for a range outside the layout's life or after now; NoRowForPastError; what a start of a
 * service throws
 */
export async function reservePast(ctx: PastContext, maxAheadMs: number): Promise<PastIds> {
  const { session, options, resolved, ports, past } = ctx;
  refuseRange(past, resolved.layout, ports.clock.refresh());
  const retries = noWaitPolicy(ports);
  await retryStartStep(() => session.prepare(resolved.workers), retries);
  const acquired = await retryStartStep(() => acquireRow(ctx, backfillPolicy(resolved, past)), retries);
  if (options.commitLossWindowMs > 0) await outlastLoss(ctx, acquired);
  const { leaseRow, reservation, trusted } = acquired;
  const { lane } = reservation;
  // The row comes free by itself when this fails. A copy of this process leaves that to the original.
  if (ports.processId() === trusted.processId) {
    await releaseRow(ctx, leaseRow, { lane, odometers: () => reservation.exhaustedOdometers });
  }
  return new PastIds({
    layout: resolved.layout,
    workerId: leaseRow.id,
    lane,
    past,
    maxAheadMs,
    limit: reservation.limit[lane],
    isCopy: () => ports.processId() !== trusted.processId,
  });
}

/** @throws ConfigurationError */
function refuseRange({ fromMs, toMs }: PastRange, { epochMs, expiresAt, timeline }: Layout, nowMs: number): void {
  const problems: ConfigurationProblem[] = [];
  const note = (option: string, ms: number, message: string): void =>
    void problems.push({ option, given: new Date(ms).toISOString(), message });
  const epoch = new Date(timeline.startOf(0)).toISOString();
  if (timeline.tickAt(fromMs) < 0) {
    const message = `must not be before ${epoch}, the start of the layout: only a layout with an earlier startTimeStamp has IDs of that time`;
    note('from', fromMs, message);
  }
  if (toMs > nowMs) note('to', toMs, `must not be after now, ${new Date(nowMs).toISOString()}`);
  if (expiresAt !== null && toMs >= expiresAt.getTime()) {
    note(
      'to',
      toMs,
      `must be before ${expiresAt.toISOString()}, the end of the layout that begins in ${new Date(epochMs).toISOString()}`,
    );
  }
  if (toMs < fromMs) note('to', toMs, `must not be before from, ${new Date(fromMs).toISOString()}`);
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/**
 * Waits until the acquiring write can be lost no more. No other process may take the row so long: see leastGraceMs.
 * @throws StoreUnavailableError when the row is not ours any more, or not known to be
 */
async function outlastLoss({ session, options, ports }: LeaseContext, { leaseRow }: AcquiredRow): Promise<void> {
  await pause(ports.timers, options.commitLossWindowMs, 'foreground');
  // A new session leads to the server that is the primary by now.
  session.reconnect();
  const { row } = await session.run('confirming the reservation', (store) => store.readRow(leaseRow.id));
  if (leaseRow.judge(row).kind === 'unchanged') return;
  throw new StoreUnavailableError('confirming the reservation', new Error('the database has lost it: reserve again'));
}

/** A reservation of the past. */
interface Reserved {
  readonly layout: Layout;
  readonly workerId: number;
  readonly lane: Lane;
  readonly past: PastRange;
  /** The last position. The first one is that of the first sequence of the tick of `past.fromMs`. */
  readonly limit: Position;
  readonly maxAheadMs: number;
  /** True in a copy of the process that has reserved. */
  readonly isCopy: () => boolean;
}

/**
 * Issues IDs at times of the past, in ascending order of time, from a stretch that is reserved for this process alone.
 *
 * It needs no database and no timer, and has nothing to close. Every ID is greater than the one before. An ID has the
 * time that was asked for. Where a tick has no sequence left, the ID has the next tick's time, at most `maxAheadMs` after
 * the time that was asked for.
 */
export class PastIds {
  readonly workerId: number;
  /** The clock-back bit of the IDs. */
  readonly lane: Lane;
  /** The first and the last time that can be asked for. */
  readonly from: Date;
  readonly to: Date;
  private next: Position;
  private lastMs: number;
  private isRestored = false;

  constructor(private readonly reserved: Reserved) {
    const { layout, past } = reserved;
    this.workerId = reserved.workerId;
    this.lane = reserved.lane;
    this.from = new Date(past.fromMs);
    this.to = new Date(past.toMs);
    this.next = { tick: layout.timeline.tickAt(past.fromMs), sequence: 0 };
    this.lastMs = past.fromMs;
  }

  /** The layout of the IDs. */
  get layout(): Layout {
    return this.reserved.layout;
  }

  /**
   * Returns the next ID of a time.
   * @param time a Date, or Unix ms: not before the last one
   * @throws TimeOrderError before the last time, before `from`, after `to`; PastExhaustedError when more IDs of one time
   * are asked for than its tick and the following `maxAheadMs` have; PastCopiedError in a copy of the process;
   * InvalidPartError for what is no time. Nothing is consumed then
   */
  at(time: Date | number): bigint {
    const { layout, limit, maxAheadMs, isCopy } = this.reserved;
    if (this.isRestored || isCopy()) throw new PastCopiedError();
    const ms = time instanceof Date ? time.getTime() : time;
    if (!Number.isFinite(ms)) throw new InvalidPartError('time', time, MAX_DATE_MS, 'a Date or Unix ms');
    if (ms < this.lastMs || ms > this.reserved.past.toMs) throw new TimeOrderError(ms, this.lastMs, this.to.getTime());
    const { timeline, maxSequence } = layout;
    const first: Position = { tick: timeline.tickAt(ms), sequence: 0 };
    const position = comparePositions(this.next, first) > 0 ? this.next : first;
    const aheadMs = timeline.startOf(position.tick) - ms;
    if (aheadMs > maxAheadMs || comparePositions(position, limit) > 0) {
      throw new PastExhaustedError(ms, timeline.startOf(this.next.tick), maxAheadMs);
    }
    const { tick, sequence } = position;
    const id = layout.pack({ tick, workerId: this.workerId, clockBack: this.lane, sequence });
    this.next = sequence < maxSequence ? { tick, sequence: sequence + 1 } : { tick: tick + 1, sequence: 0 };
    this.lastMs = ms;
    return id;
  }

  /** Returns the next ID of a time as decimal text. @throws as `at` */
  stringAt(time: Date | number): string {
    return this.at(time).toString();
  }

  /**
   * To be called when this process's memory was restored from a snapshot: the IDs of this reservation may have been
   * issued, so it issues no more.
   */
  afterRestore(): void {
    this.isRestored = true;
  }
}

/** A time of a backfill is before the last one, or outside the reserved range. */
export class TimeOrderError extends PermanentError {
  static override readonly name = 'TimeOrderError';
  readonly errorCode = 'TIME_ORDER';

  constructor(
    /** Unix ms. */
    readonly timeMs: number,
    /** The earliest time that can be asked for, Unix ms. */
    readonly leastMs: number,
    /** The latest one, Unix ms. */
    readonly mostMs: number,
  ) {
    const [time, least, most] = [timeMs, leastMs, mostMs].map((ms) => {
      const date = new Date(ms);
      return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
    });
    super(
      `No ID at ${time}: this backfill goes on from ${least} to ${most}. Ask for IDs in the order of their times, ` +
        `ORDER BY created_at for example, or open another backfill for the other rows.`,
    );
  }
}

/** A backfill was asked for more IDs of one time than the layout has there. */
export class PastExhaustedError extends PermanentError {
  static override readonly name = 'PastExhaustedError';
  readonly errorCode = 'PAST_EXHAUSTED';

  constructor(
    /** Unix ms. */
    readonly timeMs: number,
    /** The start of the first tick that has sequences left, Unix ms. */
    readonly availableMs: number,
    readonly maxAheadMs: number,
  ) {
    super(
      `Every ID of ${new Date(timeMs).toISOString()} is issued. The next one would have the time ` +
        `${new Date(availableMs).toISOString()}, which is more than maxAheadMs (${maxAheadMs}) later, or after to. Open ` +
        `another backfill for the other rows: its IDs have another worker id or lane.`,
    );
  }
}

/** The memory of this backfill lives in two processes: the other one may issue the same IDs. */
export class PastCopiedError extends PermanentError {
  static override readonly name = 'PastCopiedError';
  readonly errorCode = 'PAST_COPIED';

  constructor() {
    super(
      'This process is a copy of the one that opened the backfill, or was restored from a snapshot: the other one may ' +
        'issue the same IDs. Open another backfill in this process.',
    );
  }
}
