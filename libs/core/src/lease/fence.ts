import { RetryableError } from '../raindrop-error.js';
import { believedFromMs, type StoreTerm } from './failover-guard.js';
import {
  type FenceRequest,
  isForeign,
  type Odometer,
  type ServedAlone,
  type WorkerRow,
  type WorkerTable,
} from './worker-store.js';

/**
 * What an operator's restore is, and what a fence makes of it. Every store derives its fence from this.
 *
 * **What may have been issued.** A restored store is older than what happened since. The operator has stopped all
 * processes, or has cut them off from it. Until then any of them may have issued IDs that the store does not show:
 *
 * - with any worker id, also one whose row the store lacks, or which is free in it;
 * - with any layout, also one that the store does not know;
 * - with any code: codes share the worker's positions, and need no thought of their own;
 * - of any time up to the present + the reach. A process is granted IDs up to its clock + `horizonMs`, and its clock may be
 *   ahead by `maxClockSkewMs`, as that of the server before; this server's clock may be behind by as much.
 *
 * **From what the bar follows.** All rows are barred up to the fence's end: the store's clock + the longest reach. The
 * sum holds if that clock is right, and if no clock was ahead by more than the skew before. So a fence judges both:
 *
 * - the store's clock against the operator's;
 * - the store's clock against every time in the store. A row that was written later, a loss that was recorded later or a
 *   grant that lies beyond the reach shows that the clock is behind, or that a clock was ahead then. The fence is refused
 *   (CLOCK_BEHIND). The operator corrects the clock, waits for that time, or states `issuedUntilMs`.
 *
 * What no time in the store shows cannot be seen: clock and backup both older than the IDs. The runbook says so first.
 *
 * **Layouts.** A layout of the store may have issued up to the fence's end, as after a loss of commits. A layout that
 * served after the backup only has left no trace: the operator names it, by a fence with its options. Where the operator
 * states that one layout alone has served since (`servedAlone`), the rows decide for that one how far other layouts have
 * issued. So rows of other layouts keep their odometers. Every other layout is judged as after any fence.
 *
 * **Bounds only rise.** An earlier bar, the bar of a recorded loss and later odometers stay, also for a layout of which a
 * later fence states that it has served alone. `issuedUntilMs` takes them back to the fence's end. Example: a fence of 15:00
 * barred until 15:10. One of 15:05, whose own end is 15:08:38, bars until 15:10; with `issuedUntilMs`, until 15:08:38.
 *
 * Example, with the defaults: a backup of 12:00 is restored, and fenced at 15:00:00. All rows are barred until 15:03:38. A
 * layout that was rolled back at 14:50, and whose IDs are those of ours 15 s later, bars ours until 15:03:53.
 */

/** What a store keeps of losses and fences. */
type FencedState = Pick<StoreTerm, 'failoverNumber' | 'lostAtMs' | 'reachMs' | 'fencedUntilMs' | 'servedAlone'>;

/**
 * By how much a fence raises the failover number, ms: the fenced server then comes after all others, also after one
 * that was recorded a moment ago by a clock that is ahead.
 */
export const FENCE_FAILOVERS_MS = 120_000;

/**
 * By how much a fence raises versions: a row that was read before the table went back in time must not match
 * afterwards. The original's `version` may be an int of 32 bits, which holds 200 fences.
 */
export const FENCE_LEAP = 10_000_000;

/**
 * How long a fence bars, ms: as long as a failover does, since the processes that it stops may have had their grants from
 * another server.
 * @param ownReachMs the reach of the process that fences, ms; 0 where rows never move to another server
 */
export function fenceMs({ aheadMs }: Pick<FenceRequest, 'aheadMs'>, reachMs: number, ownReachMs: number): number {
  return Math.max(aheadMs, reachMs, ownReachMs);
}

/** When a fence is made, and how long it lasts. */
export interface FenceTime {
  /** The store's clock, Unix ms. */
  readonly nowMs: number;
  /** From when it counts, Unix ms: see {@link judgeFence}. */
  readonly fromMs: number;
  /** See {@link fenceMs}. */
  readonly forMs: number;
}

/** The state after a fence. */
export function stateAfterFence<State extends FencedState>(
  state: State,
  { issuedUntilMs, servedAlone: layout }: FenceRequest,
  { nowMs, fromMs, forMs }: FenceTime,
): State & { readonly fencedUntilMs: number } {
  const { servedAlone, ...others } = state;
  const { lostAtMs, reachMs, fencedUntilMs = 0 } = state;
  const endMs = Math.max(issuedUntilMs ?? fencedUntilMs, fromMs + forMs);
  const lossMs = lostAtMs === 0 ? 0 : lostAtMs + reachMs;
  const lostUntilMs = Math.max(
    servedAlone && servedAlone.layout === layout ? servedAlone.lostUntilMs : fencedUntilMs,
    lossMs,
  );
  return {
    ...(others as State),
    failoverNumber: Math.max(state.failoverNumber, nowMs) + FENCE_FAILOVERS_MS,
    lostAtMs: issuedUntilMs === undefined ? lostAtMs : Math.min(lostAtMs, nowMs),
    fencedUntilMs: endMs,
    ...(layout !== undefined && { servedAlone: { layout, lostUntilMs: Math.min(lostUntilMs, endMs) } }),
  };
}

/**
 * The row that a fence leaves, which ends at `untilMs`; `nowMs` is the store's clock. A later odometer stays, unless the
 * operator states up to when IDs were issued: then it tells of none. Where the operator states that one layout alone has
 * served, a row of another one goes on telling how far that has come: the bar is enough.
 */
export function fencedRow(
  row: WorkerRow,
  { issuedUntilMs, servedAlone }: Pick<FenceRequest, 'issuedUntilMs' | 'servedAlone'>,
  { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
): WorkerRow {
  // A row that has a code was used: see `lastTickTouched`.
  const isUsed = row.layout !== '' || row.code !== '';
  const tellsOfAnother = servedAlone !== undefined && isUsed && row.layout !== servedAlone;
  const fenced = (odometer: Odometer): Odometer => {
    const isLater = odometer.ms > untilMs;
    if (isLater ? issuedUntilMs === undefined : tellsOfAnother) return odometer;
    return { ms: untilMs, sequence: Number.MAX_SAFE_INTEGER };
  };
  const odometers = [fenced(row.odometers[0]), fenced(row.odometers[1])] as const;
  const versions = { version: row.version + FENCE_LEAP, ownVersion: row.ownVersion + FENCE_LEAP };
  return { ...row, ...versions, token: '', holder: '', leaseUntilMs: nowMs, odometers };
}

/**
 * The table that a fence leaves, for a store that cannot lose what it has acknowledged: its rows, deleted ones too,
 * `barredUntilMs` and `servedAlone`. The store replaces all of them at one moment.
 * @throws ClockBehindError
 */
export function fencedTable(
  table: WorkerTable,
  request: FenceRequest,
): Omit<WorkerTable, 'servedAlone'> & {
  readonly barredUntilMs: number;
  readonly servedAlone: ServedAlone | undefined;
} {
  const { nowMs, servedAlone } = table;
  const times = { ...latestTimes([...table.rows, ...table.deleted]), lostAtMs: 0 };
  const at = judgeFence(times, request, { nowMs, forMs: request.aheadMs });
  const bar = { fencedUntilMs: believedFromMs(table), ...(servedAlone && { servedAlone }) };
  const before: FencedState = { failoverNumber: 0, lostAtMs: 0, reachMs: 0, ...bar };
  const after = stateAfterFence(before, request, at);
  const fenced = (row: WorkerRow): WorkerRow => fencedRow(row, request, { nowMs, untilMs: after.fencedUntilMs });
  return {
    ...table,
    rows: table.rows.map(fenced),
    deleted: table.deleted.map(fenced),
    barredUntilMs: after.fencedUntilMs,
    servedAlone: after.servedAlone,
  };
}

/** The latest times that a store has; 0 for none. */
export interface LatestTimes {
  /** When a process of ours, or a fence, wrote a row, Unix ms. */
  readonly writtenMs: number;
  /** Up to when a row was granted, Unix ms. What a fence or a loss has raised is no grant. */
  readonly grantedMs: number;
}

/** @param rows all rows, deleted ones too */
export function latestTimes(rows: Iterable<WorkerRow>): LatestTimes {
  let [writtenMs, grantedMs] = [0, 0];
  for (const row of rows) {
    writtenMs = Math.max(writtenMs, writtenAtMs(row));
    // Also in a row that another program has taken since: it writes no odometer.
    for (const { ms, sequence } of row.odometers) {
      if (sequence < Number.MAX_SAFE_INTEGER) grantedMs = Math.max(grantedMs, ms);
    }
  }
  return { writtenMs, grantedMs };
}

/**
 * A release, and a fence, let the lease end at once. In a row that is held, an operator whose session has another zone may
 * read a wrong heartbeat; it is never later than the end of the lease.
 */
function writtenAtMs(row: WorkerRow): number {
  if (row.token === '') return row.leaseUntilMs;
  // The original's programs write times of their zone.
  return isForeign(row) ? 0 : Math.min(row.heartbeatMs, row.leaseUntilMs);
}

/**
 * Judges the clock by which a fence is made. The clocks of two servers, each of which is right, may be apart by twice the
 * skew. So a time in the store may be later than its clock by so much; then the fence counts from that time on.
 * @throws ClockBehindError
 */
export function judgeFence(
  { writtenMs, grantedMs, lostAtMs }: LatestTimes & Pick<FencedState, 'lostAtMs'>,
  { maxClockSkewMs, issuedUntilMs }: FenceRequest,
  { nowMs, forMs }: Omit<FenceTime, 'fromMs'>,
): FenceTime {
  if (issuedUntilMs !== undefined) return { nowMs, fromMs: nowMs, forMs };
  const latestMs = nowMs + 2 * maxClockSkewMs;
  if (writtenMs > latestMs) throw new ClockBehindError('was last written at', writtenMs, nowMs);
  if (lostAtMs > latestMs) throw new ClockBehindError('recorded a loss of commits at', lostAtMs, nowMs);
  if (grantedMs > nowMs + forMs) throw new ClockBehindError('granted IDs up to', grantedMs, nowMs);
  return { nowMs, fromMs: Math.max(nowMs, writtenMs), forMs };
}

/**
 * A fence is refused: the store's clock says an earlier time than the store itself. IDs of that time may exist, and the
 * fence would end before it.
 */
export class ClockBehindError extends RetryableError {
  static override readonly name = 'ClockBehindError';
  readonly errorCode = 'CLOCK_BEHIND';

  constructor(
    what: string,
    /** The later time, Unix ms. */
    readonly laterMs: number,
    /** The store's clock, Unix ms. */
    readonly nowMs: number,
  ) {
    super(
      `The clock of the worker ids' store says ${isoOf(nowMs)}, but the store ${what} ${isoOf(laterMs)}: IDs of that ` +
        `time may exist, and a fence would end before it. If the clock is behind, correct it and fence again. If a clock was ` +
        `ahead then, wait until that time is past, or state up to when IDs can exist (issuedUntil, --issued-until). If a ` +
        `service has a longer horizonMs, fence with its options.`,
    );
  }
}

/** An ISO time; the number where a Date cannot hold it. */
function isoOf(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms);
}
