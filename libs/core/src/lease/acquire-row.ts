import { DAY_MS } from '../time/timeline.js';
import { ConfigurationError } from '../config/option-reader.js';
import { BEFORE_ALL, type Lane, maxPosition, type PerLane, type Position } from '../generator/tenure.js';
import type { Layout } from '../layout/layout.js';
import { type ClockReading, readClocks } from './admission.js';
import { believedFromMs, raiseOdometersTo } from './failover-guard.js';
import { areHarmless, judgeLayouts, refuseOtherLayouts } from './layout-choice.js';
import { type LeaseContext, validatedNow, writeOf } from './lease-context.js';
import { ForeignRowsError, StoreUnavailableError, type WorkerCensus } from './lease-errors.js';
import { LeaseRow, releaseRow } from './lease-row.js';
import { odometersOf, positionOf } from './odometer.js';
import { Reservation } from './reservation.js';
import type { Candidate, Findings, FreeRow, RowPolicy } from './row-policy.js';
import { checkForeignTimes } from './store-session.js';
import {
  byFreeSince,
  INCLUDE_HELD,
  isForeign,
  isHeld,
  type Odometer,
  type SampleRequest,
  type WorkerRow,
  type WorkerSample,
  type WorkerTable,
} from './worker-store.js';

/** A row that was acquired, and its first grant. */
export interface AcquiredRow {
  readonly leaseRow: LeaseRow;
  /** The row before the write; its odometers may have been raised after a failover. */
  readonly found: WorkerRow;
  readonly reservation: Reservation;
  /** Monotonic ms before the write was sent: the lease counts from there. */
  readonly sentMs: number;
  /** Clocks and process when the wall clock was compared with the database's, before the write. */
  readonly trusted: ClockReading;
  /** This host's clock minus the database's. */
  readonly clockOffsetMs: number;
  /** The rows of our range before the write. */
  readonly census: Pick<WorkerCensus, 'total' | 'live'>;
}

/** Makes the request of the sample that {@link acquireRow} reads; undefined where the policy needs the whole table. */
export function sampleFor(
  { resolved, options, ports }: LeaseContext,
  { mayReadSample }: RowPolicy,
): (() => SampleRequest) | undefined {
  if (!mayReadSample) return undefined;
  const { min, max } = resolved.workers;
  const workers = { min, max: Math.min(max, resolved.layout.maxWorkerId) };
  return () => {
    const from = min + Math.floor(ports.randomness.fraction() * (workers.max - min + 1));
    return { workers, from, atMost: SAMPLE_SIZE, graceMs: options.graceMs };
  };
}

/**
 * One round of acquiring a row: reads a few free rows, or the whole table where those are not enough; tries them in
 * turn; and, once one is acquired, reads again whether another layout has started meanwhile. A write whose outcome is
 * unknown is forgotten together with its token; if it was executed, its row comes free when that lease ends.
 *
 * @param policy which rows, in which order, what to grant, and what to refuse: a start's or a backfill's
 * @param read the sample of {@link sampleFor}, where it was read just now
 * @throws NoFreeWorkerError, LayoutConflictError, ClockSkewError, ConfigurationError, StoreUnavailableError;
 * NoRowForPastError
 */
export async function acquireRow(context: LeaseContext, policy: RowPolicy, read?: WorkerSample): Promise<AcquiredRow> {
  const ctx: RowSearch = { ...context, policy };
  const sample = await surveySample(ctx, read);
  const ofSample = sample && (await tryRows(ctx, sample));
  if (ofSample !== undefined) return ofSample;
  const survey = await surveyTable(ctx);
  const acquired = await tryRows(ctx, survey);
  if (acquired !== undefined) return acquired;
  throw policy.refusal(survey);
}

/** The lease that is wanted, and which row will do. */
interface RowSearch extends LeaseContext {
  readonly policy: RowPolicy;
}

/** The result of reading the table, or a sample of it; the candidates are in the order in which they are tried. */
interface Survey extends Findings {
  /** The database's clock. */
  readonly nowMs: number;
  /** Clocks and process when the wall clock was compared with the database's. */
  readonly trusted: ClockReading;
}

/** Rows of one sample: with many starters a process loses some of them; each costs a cold process 30 to 90 µs. */
const SAMPLE_SIZE = 16;

/**
 * Reads a few free rows: enough for nearly every start. Reading a table of 1,023 rows instead doubles a cold start, and
 * of 1,000 starts at once most fail: bench/README.md has the figures. Undefined when the whole table is needed: by the
 * policy, because of a layout that could repeat our IDs, a row of another program, or a layout that ends soon. Of its
 * census only `total` and `live` are right.
 *
 * @throws ClockSkewError, StoreUnavailableError
 */
async function surveySample(ctx: RowSearch, read: WorkerSample | undefined): Promise<Survey | undefined> {
  const { session, resolved, policy } = ctx;
  const wanted = sampleFor(ctx, policy);
  if (wanted === undefined) return undefined;
  const sample = read ?? (await session.run('reading the workers', (store) => store.readSample(wanted())));
  const wallMs = validatedNow(ctx, sample.nowMs, true);
  if (sample.foreign > 0 || endsSoon(ctx, sample.nowMs) || !areHarmless(sample, resolved.layout)) return undefined;
  const { total, live } = sample;
  // Barred rows are raised to the barred moment here, and so they count as used up: the whole table is read next.
  const found = makeSurvey(ctx, sample, wallMs, BEFORE_ALL);
  return { ...found, census: { ...found.census, total, live } };
}

/**
 * Reads the whole table, and judges its layouts and foreign rows.
 * @throws LayoutConflictError, ForeignRowsError, ForeignTimeZoneError, ClockSkewError, ConfigurationError,
 * StoreUnavailableError
 */
async function surveyTable(ctx: RowSearch): Promise<Survey> {
  const table = await ctx.session.run('reading the workers', (store) => store.readTable());
  await checkForeignRows(ctx, table);
  const wallMs = validatedNow(ctx, table.nowMs, true);
  reportShortLifeOfNewTable(ctx, table);
  // Layouts are judged once nothing is barred: holders that go on have renewed by then, and their rows are right again.
  const barred = makeSurvey(ctx, table, wallMs, BEFORE_ALL);
  if (barred.barredForMs > 0) return { ...barred, candidates: [] };
  return makeSurvey(ctx, table, wallMs, judgeLayouts(table, ctx.resolved.layout, ctx.options.graceMs));
}

/** @param othersEnd nothing up to here may be issued; see judgeLayouts */
function makeSurvey(
  ctx: RowSearch,
  found: Pick<WorkerTable, 'nowMs' | 'rows' | 'barredUntilMs' | 'lostUntilMs'>,
  wallMs: number,
  othersEnd: Position,
): Survey {
  const { nowMs, barredUntilMs } = found;
  const lostUntilMs = believedFromMs(found);
  const rows = found.rows.map((row) => raiseOdometersTo(lostUntilMs, row));
  return {
    nowMs,
    trusted: readClocks(wallMs, ctx.ports),
    ...selectRows(ctx, { nowMs, rows }, wallMs, othersEnd),
    barredForMs: barredForMs(ctx.resolved.layout, barredUntilMs, wallMs),
    lostUntilMs,
  };
}

/** How long no row may be acquired, ms: to the end of the barred moment's tick. */
function barredForMs({ timeline }: Layout, barredUntilMs: number = 0, wallMs: number): number {
  return Math.max(0, timeline.startOf(timeline.tickAt(barredUntilMs) + 1) - wallMs);
}

/** Rows of other programs need the option that allows them, and times that all programs read as the same moments. */
async function checkForeignRows({ session, options, resolved }: LeaseContext, { rows }: WorkerTable): Promise<void> {
  const foreign = rows.filter(isForeign).map(({ id }) => id);
  if (foreign.length > 0 && !options.adoptForeign) throw new ForeignRowsError(foreign.sort((a, b) => a - b));
  if (foreign.length > 0 || options.sharedWithOriginal) await checkForeignTimes(session);
  const { min, max } = resolved.workers;
  if (!options.sharedWithOriginal || rows.some(({ id }) => id >= min && id <= max)) return;
  const message =
    `the table has no rows for workers ${min} to ${max}, and Raindrop adds none that the original would also use: ` +
    `let the original create table and rows first, or set a range that has rows`;
  throw new ConfigurationError([{ option: 'sharedWithOriginal', given: 'true', message }]);
}

/** A layout that ends soon is refused on a table that was never used; later it may only warn. */
function reportShortLifeOfNewTable(ctx: LeaseContext, table: WorkerTable): void {
  const wasUsed = table.layouts.length > 0 || table.rows.some((row) => row.code !== '');
  if (wasUsed || !endsSoon(ctx, table.nowMs)) return;
  const { layout, minLifetimeDays } = ctx.resolved;
  const message =
    `the layout expires at ${layout.expiresAt?.toISOString()}, within minLifetimeDays (${minLifetimeDays}): use a ` +
    `later startTimeStamp or more bits`;
  throw new ConfigurationError([{ option: 'timeStampLength', given: String(layout.fields[0]?.bits), message }]);
}

function endsSoon({ resolved }: LeaseContext, nowMs: number): boolean {
  const { layout, minLifetimeDays } = resolved;
  return layout.expiresAt !== null && layout.expiresAt.getTime() - nowMs < minLifetimeDays * DAY_MS;
}

/** A row of the original's programs is dead so long after its last heartbeat, ms. */
const FOREIGN_DEAD_AFTER_MS = 120_000;

/** How far past that heartbeat those programs may have issued, ms. */
const FOREIGN_AHEAD_MS = 60_000;

/**
 * Sorts the table's rows: counts those that are held, foreign or used up, and puts the others into the order of trial.
 */
function selectRows(
  ctx: RowSearch,
  table: Pick<WorkerTable, 'nowMs' | 'rows'>,
  wallMs: number,
  othersEnd: Position,
): Pick<Findings, 'candidates' | 'ahead' | 'census'> {
  const { resolved, options, policy } = ctx;
  const { workers, layout } = resolved;
  const rows = table.rows.filter(({ id }) => id >= workers.min && id <= workers.max && id <= layout.maxWorkerId);
  const candidates: Candidate[] = [];
  const ahead: FreeRow[] = [];
  const live: WorkerRow[] = [];
  let foreign = 0;
  for (const row of rows) {
    const isTaken = isHeld(row, table.nowMs, options.graceMs);
    // A row that another program took from one of our holders is still that holder's for a while, too: it does not know
    // yet.
    if (isForeign(row) && (isTaken || !isAdoptable(row, table.nowMs, ctx))) foreign++;
    else if (isTaken) live.push(row);
    else {
      const free = freeRowOf(row, ctx, wallMs, othersEnd);
      const lane = policy.laneOf(free, wallMs);
      if (lane === undefined) ahead.push(free);
      else candidates.push({ row, start: { lane, base: free.base, odometerMs: free.odometerMs } });
    }
  }
  const ends = live.map((row) => row.leaseUntilMs + options.graceMs);
  const census: WorkerCensus = {
    total: rows.length,
    live: live.length,
    foreign,
    ahead: ahead.length,
    contended: 0,
    freeAtMs: ends.length > 0 ? Math.min(...ends) : undefined,
  };
  return { candidates: inOrderOfTrial(candidates, ctx), ahead, census };
}

function isAdoptable(row: WorkerRow, nowMs: number, { options, resolved }: LeaseContext): boolean {
  return options.adoptForeign && nowMs - row.heartbeatMs > FOREIGN_DEAD_AFTER_MS + resolved.layout.unitMs;
}

/** How far a free row's lanes may have been used. */
function freeRowOf(
  row: WorkerRow,
  { resolved: { layout }, options }: LeaseContext,
  wallMs: number,
  othersEnd: Position,
): FreeRow {
  const foreignEnd: Position | undefined = isForeign(row)
    ? { tick: layout.timeline.tickAt(row.heartbeatMs + FOREIGN_AHEAD_MS), sequence: layout.maxSequence }
    : undefined;
  const baseOf = (lane: Lane): Position => {
    const base = maxPosition(positionOf(row.odometers[lane], row, layout), othersEnd);
    return foreignEnd === undefined ? base : maxPosition(base, foreignEnd);
  };
  const known: PerLane<Position> = [baseOf(0), baseOf(1)];
  const odometerMs: PerLane<number> = [row.odometers[0].ms, row.odometers[1].ms];
  // Where commits can be lost, so can the last grants of a holder that did not give the row back: begin with the next
  // tick. That holder's own lease is over by now, whatever the row says: see leastGraceMs.
  const isUnclean = row.token !== '' && options.commitLossWindowMs > 0;
  if (!isUnclean) return { known, base: known, odometerMs };
  const endOfTick: Position = { tick: layout.timeline.tickAt(wallMs), sequence: layout.maxSequence };
  return {
    known,
    base: [maxPosition(known[0], endOfTick), maxPosition(known[1], endOfTick)],
    // Also for a later holder with another layout.
    odometerMs: [Math.max(odometerMs[0], wallMs), Math.max(odometerMs[1], wallMs)],
  };
}

/**
 * The policy's order first, then that of {@link byFreeSince}, behind a row of our own code where that is preferred; at
 * random among equals, so that starters spread.
 */
function inOrderOfTrial(
  candidates: readonly Candidate[],
  { policy, options, identity, ports }: RowSearch,
): readonly Candidate[] {
  return candidates
    .map((candidate) => ({
      candidate,
      rank: options.priorityEqualCodeWorkId && candidate.row.code === identity.code ? 0 : 1,
      draw: ports.randomness.fraction(),
    }))
    .sort(
      (a, b) =>
        policy.compare(a.candidate, b.candidate) ||
        a.rank - b.rank ||
        byFreeSince(a.candidate.row, b.candidate.row) ||
        a.draw - b.draw,
    )
    .map(({ candidate }) => candidate);
}

/** Undefined when other processes were faster on every row. */
async function tryRows(ctx: RowSearch, survey: Survey): Promise<AcquiredRow | undefined> {
  const { session, resolved, ports, policy } = ctx;
  const { trusted, nowMs, census } = survey;
  const { wallMs } = trusted;
  for (const { row, start } of survey.candidates) {
    const reservation = new Reservation(resolved.layout);
    const grant = policy.grant(reservation, start, wallMs);
    const token = ports.randomness.token();
    const sentMs = ports.monotonic.now();
    const expected = { version: row.version, token: row.token };
    const write = writeOf(ctx, { id: row.id, expected, token, lane: grant.lane, odometers: grant.odometers });
    if (await session.run('acquiring a worker', (store) => store.write(write))) {
      const leaseRow = new LeaseRow(row.id, row.version + 1, token);
      // A replaced primary that still serves its old sessions shows a lease as over although the holder renews it at
      // the successor. A new session leads to the successor.
      if (row.token !== '') session.reconnect();
      const laterEnd = await confirmLayout(ctx, leaseRow, { row, start }, trusted);
      const base = [maxPosition(grant.base[0], laterEnd), maxPosition(grant.base[1], laterEnd)] as const;
      reservation.begin(start, { ...grant, base });
      return { leaseRow, found: row, reservation, sentMs, trusted, clockOffsetMs: wallMs - nowMs, census };
    }
  }
  return undefined;
}

/**
 * Confirms the row, and that no other layout has started meanwhile. Two processes with conflicting layouts that start
 * together both pass the first read; both have written their rows by now, so at least one of them sees the other's.
 * @returns how far other layouts of the table can have issued by now
 */
async function confirmLayout(
  ctx: RowSearch,
  leaseRow: LeaseRow,
  found: Candidate,
  trusted: ClockReading,
): Promise<Position> {
  const { layout: ours } = ctx.resolved;
  try {
    const { row, othersEnd, isNoted } = await readAgain(ctx, found.row, trusted.wallMs);
    if (leaseRow.judge(row).kind !== 'unchanged') {
      throw new StoreUnavailableError('confirming the layout', new Error('the row just acquired is not ours'));
    }
    ctx.policy.refuseLayouts(othersEnd);
    if (!isNoted) await ctx.session.run('noting the layout', (store) => store.rememberLayout(ours.fingerprint));
    return othersEnd;
  } catch (error) {
    // Nothing was issued, so the row goes back; unless a copy of this process holds it as well, which may yet issue.
    if (ctx.ports.processId() === trusted.processId) {
      const { lane, layout, odometers } = unusedRowOf(found, ours);
      await releaseRow(ctx, leaseRow, { lane, layout, odometers: () => odometers });
    }
    throw error;
  }
}

/** Our own row after it was acquired, and the state of the layouts at that moment. */
interface Confirmation {
  readonly row: WorkerRow | undefined;
  /** Nothing up to here may be issued; see judgeLayouts. */
  readonly othersEnd: Position;
  /** Whether our layout is remembered. */
  readonly isNoted: boolean;
}

/**
 * Reads the acquired row, and the layouts of the table, once more.
 * @param found the row as it was before it was acquired
 * @param wallMs when the row was chosen: by then nothing was barred
 * @throws LayoutConflictError; StoreUnavailableError, also when the store may have lost writes meanwhile
 */
async function readAgain(ctx: LeaseContext, found: WorkerRow, wallMs: number): Promise<Confirmation> {
  const { session, resolved, options } = ctx;
  const { layout } = resolved;
  const { id } = found;
  const request = { workers: { min: id, max: id }, from: id, atMost: 1, graceMs: INCLUDE_HELD };
  const seen = await session.run('confirming the layout', (store) => store.readSample(request));
  if (barredForMs(layout, seen.barredUntilMs, wallMs) > 0) {
    throw new StoreUnavailableError(
      'confirming the row',
      new Error('the store may have lost grants since it was read'),
    );
  }
  const isNoted = seen.layouts.includes(layout.fingerprint);
  if (ctx.isFirstLayout === true && !isNoted) refuseOtherLayouts(seen, layout);
  if (areHarmless(seen, layout)) return { row: seen.rows[0], othersEnd: BEFORE_ALL, isNoted };
  const table = await session.run('confirming the layout', (store) => store.readTable());
  const rows = table.rows.filter((row) => row.id !== id);
  // This process's write has put its own layout into the row. The row as it was found shows how far a former holder of
  // the same layout was granted.
  if (found.layout === layout.fingerprint) rows.push(found);
  return {
    row: table.rows.find((row) => row.id === id),
    othersEnd: judgeLayouts({ ...table, rows }, layout, options.graceMs),
    isNoted: table.layouts.includes(layout.fingerprint),
  };
}

/**
 * The row to give back when nothing was issued. A row that had our layout, or another program's, goes back at our base:
 * the base remembers how far another program, or a holder that did not give the row back, may have issued, which our
 * write has covered up. A row of another layout, or of none, goes back as it was found, because our base knows only its
 * ticks, not its sequences; where its last holder did not give it back, the odometers are raised past what that holder
 * may have issued.
 */
function unusedRowOf({ row, start }: Candidate, layout: Layout): Pick<WorkerRow, 'lane' | 'odometers' | 'layout'> {
  if (!isForeign(row) && row.layout !== layout.fingerprint) {
    const left = (lane: Lane): Odometer => {
      const [found, ms] = [row.odometers[lane], start.odometerMs[lane]];
      return ms > found.ms ? { ms, sequence: Number.MAX_SAFE_INTEGER } : found;
    };
    return { lane: row.lane, layout: row.layout, odometers: [left(0), left(1)] };
  }
  return { lane: row.lane, odometers: odometersOf(start.base, layout, start.odometerMs), layout: layout.fingerprint };
}
