import { RetryableError } from '../raindrop-error.js';
import { believedFromMs, type StoreTerm } from './failover-guard.js';
import {
  type FenceRequest,
  isForeign,
  type Odometer,
  type WorkerRow,
  type WorkerStore,
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
 * states that one layout alone has served since (`onlyThisLayout`), odometers tell how far others have come, and stay. Only
 * the stated layout is judged by them: see {@link noteServedAlone}.
 *
 * **Bounds only rise.** An earlier bar, the bar of a recorded loss and later odometers stay. `issuedUntilMs` takes them back
 * to the fence's end.
 *
 * Example, with the defaults: a backup of 12:00 is restored, and fenced at 15:00:00. All rows are barred until 15:03:38. A
 * layout that was rolled back at 14:50, and whose IDs are those of ours 15 s later, bars ours until 15:03:53.
 */

/** What a store keeps of losses and fences. */
export interface FencedState extends Pick<StoreTerm, 'failoverNumber' | 'lostAtMs' | 'reachMs'> {
  readonly fencedUntilMs?: number;
}

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

/** The sequence that {@link noteServedAlone} writes. A process is granted a lower one; a fence or a loss raises to a higher one. */
export const SERVED_ALONE = Number.MAX_SAFE_INTEGER - 1;

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
  { issuedUntilMs }: FenceRequest,
  { nowMs, fromMs, forMs }: FenceTime,
): State & Required<FencedState> {
  const { lostAtMs, fencedUntilMs = 0 } = state;
  return {
    ...state,
    failoverNumber: Math.max(state.failoverNumber, nowMs) + FENCE_FAILOVERS_MS,
    lostAtMs: issuedUntilMs === undefined ? lostAtMs : Math.min(lostAtMs, nowMs),
    fencedUntilMs: Math.max(issuedUntilMs ?? fencedUntilMs, fromMs + forMs),
  };
}

/**
 * The row that a fence leaves, which ends at `untilMs`; `nowMs` is the store's clock. A later odometer stays, unless the
 * operator states up to when IDs were issued: then it tells of none. Where the operator states that one layout alone has
 * served, the odometers go on telling how far others have come: the bar is enough.
 */
export function fencedRow(
  row: WorkerRow,
  { issuedUntilMs, onlyThisLayout = false }: Pick<FenceRequest, 'issuedUntilMs' | 'onlyThisLayout'>,
  { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
): WorkerRow {
  const fenced = (odometer: Odometer): Odometer => {
    const isLater = odometer.ms > untilMs;
    if (isLater ? issuedUntilMs === undefined : onlyThisLayout) return odometer;
    return { ms: untilMs, sequence: Number.MAX_SAFE_INTEGER };
  };
  const odometers = [fenced(row.odometers[0]), fenced(row.odometers[1])] as const;
  const versions = { version: row.version + FENCE_LEAP, ownVersion: row.ownVersion + FENCE_LEAP };
  return { ...row, ...versions, token: '', holder: '', leaseUntilMs: nowMs, odometers };
}

/**
 * The table that a fence leaves, for a store that cannot lose what it has acknowledged: its rows, deleted ones too, and
 * `barredUntilMs`. The store replaces all of them at one moment.
 * @throws ClockBehindError
 */
export function fencedTable(
  table: WorkerTable,
  request: FenceRequest,
): WorkerTable & { readonly barredUntilMs: number } {
  const { nowMs } = table;
  const times = { ...latestTimes([...table.rows, ...table.deleted]), lostAtMs: 0 };
  const at = judgeFence(times, request, { nowMs, forMs: request.aheadMs });
  const before = { failoverNumber: 0, lostAtMs: 0, reachMs: 0, fencedUntilMs: believedFromMs(table) };
  const after = stateAfterFence(before, request, at);
  const fenced = (row: WorkerRow): WorkerRow => fencedRow(row, request, { nowMs, untilMs: after.fencedUntilMs });
  return {
    ...table,
    rows: table.rows.map(fenced),
    deleted: table.deleted.map(fenced),
    barredUntilMs: after.fencedUntilMs,
  };
}

/**
 * Notes, after a fence, the layout of which the operator states that it alone has served: one row counts as granted to it, up
 * to 1 ms past the bar. So it is not shut out by others: see `judgeLayouts`. Others are judged against the bar, as after any
 * fence. Without a row that may be written, the stated layout waits as others do.
 * @param table read after the fence
 */
export async function noteServedAlone(
  store: Pick<WorkerStore, 'write'>,
  table: WorkerTable,
  layout: string,
): Promise<void> {
  const granted: Odometer = { ms: believedFromMs(table) + 1, sequence: SERVED_ALONE };
  for (const row of table.rows) {
    if (isForeign(row)) continue;
    const { id, version, token, holder, code } = row;
    const isWritten = await store.write({
      id,
      expected: { version, token },
      token: '',
      holder,
      layout,
      lane: 0,
      odometers: [granted, othersEnd(row, layout)],
      code,
      timeUnit: 0,
      leaseMs: 0,
    });
    if (isWritten) return;
  }
}

/** How far layouts other than this one have come in a row: see `lastTickTouched`. */
function othersEnd({ layout: last, odometers: [a, b] }: WorkerRow, layout: string): Odometer {
  const isFirstLater = a.ms > b.ms || (a.ms === b.ms && a.sequence > b.sequence);
  return isFirstLater === (last === layout) ? b : a;
}

/** The latest times that a store has; 0 for none. */
export interface LatestTimes {
  /** When a process of ours, or a fence, wrote a row, Unix ms. */
  readonly writtenMs: number;
  /** Up to when a row was granted, Unix ms. What a fence has raised or noted, or a loss has raised, is no grant. */
  readonly grantedMs: number;
}

/** @param rows all rows, deleted ones too */
export function latestTimes(rows: Iterable<WorkerRow>): LatestTimes {
  let [writtenMs, grantedMs] = [0, 0];
  for (const row of rows) {
    writtenMs = Math.max(writtenMs, writtenAtMs(row));
    if (isForeign(row)) continue;
    for (const { ms, sequence } of row.odometers) {
      if (sequence < SERVED_ALONE) grantedMs = Math.max(grantedMs, ms);
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
