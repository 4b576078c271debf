import { DAY_MS } from '../time/timeline.js';
import { ConfigurationError } from '../config/option-reader.js';
import {
  BEFORE_ALL,
  comparePositions,
  type Lane,
  maxPosition,
  type PerLane,
  type Position,
} from '../generator/tenure.js';
import type { WorkerRange } from '../layout/layout-options.js';
import type { Layout } from '../layout/layout.js';
import type { Randomness } from '../ports.js';
import { type ClockReading, readClocks } from './admission.js';
import { believedFromMs, raiseOdometersTo } from './failover-guard.js';
import { areHarmless, judgeLayouts, refuseOtherLayouts } from './layout-choice.js';
import { type LeaseContext, type PastRange, validatedNow, writeOf } from './lease-context.js';
import {
  ForeignRowsError,
  NoFreeWorkerError,
  NoRowForPastError,
  StoreUnavailableError,
  type WorkerCensus,
} from './lease-errors.js';
import type { ResolvedLeaseOptions } from './lease-options.js';
import { LeaseRow, releaseRow } from './lease-row.js';
import { odometersOf, positionOf } from './odometer.js';
import { laneBelow, Reservation, type StartPoint, usableLane } from './reservation.js';
import { checkForeignTimes } from './store-session.js';
import { INCLUDE_HELD, isForeign, isHeld, type Odometer, type WorkerRow, type WorkerTable } from './worker-store.js';

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

/**
 * One round of acquiring a row: reads a few free rows, or the whole table where those are not enough; tries them in
 * turn; and, once one is acquired, reads again whether another layout has started meanwhile. A write whose outcome is
 * unknown is forgotten together with its token; if it was executed, its row comes free when that lease ends.
 *
 * With `past` it acquires a row that was never granted a position at or after `fromMs` on one of its lanes, and the
 * first grant ends with the tick of `toMs`.
 *
 * @throws NoFreeWorkerError, LayoutConflictError, ClockSkewError, ConfigurationError, StoreUnavailableError;
 * NoRowForPastError
 */
export async function acquireRow(ctx: LeaseContext): Promise<AcquiredRow> {
  const sample = await surveySample(ctx);
  const ofSample = sample && (await tryRows(ctx, sample));
  if (ofSample !== undefined) return ofSample;
  const survey = await surveyTable(ctx);
  const acquired = await tryRows(ctx, survey);
  if (acquired !== undefined) return acquired;
  if (ctx.past !== undefined && survey.candidates.length === 0) {
    const { lowestMs = Number.POSITIVE_INFINITY, census, lostUntilMs } = survey;
    const from = lowestMs <= ctx.past.toMs ? lowestMs : undefined;
    throw new NoRowForPastError(ctx.past.fromMs, census, from, lostUntilMs);
  }
  throw new NoFreeWorkerError({ ...survey.census, contended: survey.candidates.length }, survey.barredForMs);
}

/** The result of reading the table, or a sample of it. */
interface Survey extends Selection {
  /** The database's clock. */
  readonly nowMs: number;
  /** Clocks and process when the wall clock was compared with the database's. */
  readonly trusted: ClockReading;
  /** How long the store bars all rows, to the end of the barred moment's tick, by this host's clock, ms. */
  readonly barredForMs: number;
  /** Up to when the store may have lost grants, or was fenced, Unix ms; 0 when it was neither. */
  readonly lostUntilMs: number;
}

/** Rows of one sample: with many starters a process loses some of them; each costs a cold process 10 to 20 µs. */
const SAMPLE_SIZE = 16;

/**
 * Reads a few free rows: enough for nearly every start, and much faster in a process that has just begun. Undefined
 * when the whole table is needed: because of a layout that could repeat our IDs, a row of another program, a preferred
 * code, a layout that ends soon, or for the past. Of its census only `total` and `live` are right.
 *
 * @throws ClockSkewError, StoreUnavailableError
 */
async function surveySample(ctx: LeaseContext): Promise<Survey | undefined> {
  const { session, resolved, options, ports } = ctx;
  // What is believed of the past depends on all rows.
  if (options.priorityEqualCodeWorkId || options.sharedWithOriginal || ctx.past !== undefined) return undefined;
  const { min, max } = resolved.workers;
  const workers = { min, max: Math.min(max, resolved.layout.maxWorkerId) };
  const from = min + Math.floor(ports.randomness.fraction() * (workers.max - min + 1));
  const request = { workers, from, atMost: SAMPLE_SIZE, graceMs: options.graceMs };
  const sample = await session.run('reading the workers', (store) => store.readSample(request));
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
async function surveyTable(ctx: LeaseContext): Promise<Survey> {
  const table = await ctx.session.run('reading the workers', (store) => store.readTable());
  await checkForeignRows(ctx, table);
  const wallMs = validatedNow(ctx, table.nowMs, true);
  reportShortLifeOfNewTable(ctx, table);
  // Layouts are judged once nothing is barred: holders that go on have renewed by then, and their rows are right again.
  const barred = makeSurvey(ctx, table, wallMs, BEFORE_ALL);
  if (barred.barredForMs > 0) return { ...barred, candidates: [] };
  return makeSurvey(ctx, table, wallMs, judgeLayouts(table, ctx.resolved.layout, ctx.options.graceMs));
}

function makeSurvey(
  { resolved, options, identity, ports, past }: LeaseContext,
  found: Pick<WorkerTable, 'nowMs' | 'rows' | 'barredUntilMs' | 'lostUntilMs'>,
  wallMs: number,
  othersEnd: Position,
): Survey {
  const { code } = identity;
  const basis = { ...resolved, options, wallMs, othersEnd, code, past, randomness: ports.randomness };
  const { nowMs, barredUntilMs } = found;
  const lostUntilMs = believedFromMs(found);
  const rows = found.rows.map((row) => raiseOdometersTo(lostUntilMs, row));
  const selected = selectRows({ nowMs, rows }, basis);
  const barredMs = barredForMs(resolved.layout, barredUntilMs, wallMs);
  return {
    nowMs,
    trusted: readClocks(wallMs, ports),
    ...selected,
    barredForMs: barredMs,
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

interface Selection {
  /** In the order in which they should be tried. */
  readonly candidates: readonly Candidate[];
  /** The rows of our range, counted. */
  readonly census: WorkerCensus;
  /**
   * The start of the first tick after what was granted on any free row that cannot be used, Unix ms; undefined when there
   * is none.
   */
  readonly lowestMs: number | undefined;
}

/** A row that may be acquired, and where the next lease of it would start. */
interface Candidate {
  readonly row: WorkerRow;
  readonly start: StartPoint;
}

interface SelectionBasis {
  readonly layout: Layout;
  readonly workers: WorkerRange;
  readonly firstLane: Lane;
  readonly options: ResolvedLeaseOptions;
  /** This process's code. */
  readonly code: string;
  /** This host's clock. */
  readonly wallMs: number;
  /** Nothing up to here may be issued; see judgeLayouts. */
  readonly othersEnd: Position;
  readonly past: PastRange | undefined;
  readonly randomness: Randomness;
}

/** A row of the original's programs is dead so long after its last heartbeat, ms. */
const FOREIGN_DEAD_AFTER_MS = 120_000;

/** How far past that heartbeat those programs may have issued, ms. */
const FOREIGN_AHEAD_MS = 60_000;

/**
 * Sorts the table's rows: counts those that are held, foreign or used up, and puts the others into the order of trial.
 */
function selectRows(table: Pick<WorkerTable, 'nowMs' | 'rows'>, basis: SelectionBasis): Selection {
  const { layout, workers, options } = basis;
  const rows = table.rows.filter(({ id }) => id >= workers.min && id <= workers.max && id <= layout.maxWorkerId);
  const [live, foreign, ahead] = [[] as WorkerRow[], [] as WorkerRow[], [] as Omit<StartPoint, 'lane'>[]];
  const candidates: Candidate[] = [];
  for (const row of rows) {
    const isTaken = isHeld(row, table.nowMs, options.graceMs);
    // A row that another program took from one of our holders is still that holder's for a while, too: it does not know
    // yet.
    if (isForeign(row) && (isTaken || !isAdoptable(row, table.nowMs, basis))) {
      foreign.push(row);
      continue;
    }
    if (isTaken) {
      live.push(row);
      continue;
    }
    const { lane, ...start } = startPointOf(row, basis);
    if (lane === undefined) ahead.push(start);
    else candidates.push({ row, start: { ...start, lane } });
  }
  const ends = live.map((row) => row.leaseUntilMs + options.graceMs);
  const census: WorkerCensus = {
    total: rows.length,
    live: live.length,
    foreign: foreign.length,
    ahead: ahead.length,
    contended: 0,
    freeAtMs: ends.length > 0 ? Math.min(...ends) : undefined,
  };
  const lowestTick = Math.min(
    ...ahead.flatMap(({ base: [a, b] }) => (layout.hasClockBack ? [a.tick, b.tick] : a.tick)),
  );
  const lowestMs = ahead.length > 0 ? layout.timeline.startOf(lowestTick + 1) : undefined;
  return { candidates: inOrderOfTrial(candidates, basis), census, lowestMs };
}

/** The first position that a row for the past is to issue: its odometer has to be below it. */
function startOfPast({ timeline }: Layout, { fromMs }: PastRange): Position {
  return { tick: timeline.tickAt(fromMs), sequence: 0 };
}

function isAdoptable(row: WorkerRow, nowMs: number, { options, layout }: SelectionBasis): boolean {
  return options.adoptForeign && nowMs - row.heartbeatMs > FOREIGN_DEAD_AFTER_MS + layout.unitMs;
}

/** Where the next lease of a row would start; `lane` is undefined where neither lane may issue, now or in the past. */
function startPointOf(
  row: WorkerRow,
  { layout, wallMs, firstLane, othersEnd, options, past }: SelectionBasis,
): Omit<StartPoint, 'lane'> & { readonly lane: Lane | undefined } {
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
  const endOfTick: Position = { tick: layout.timeline.tickAt(wallMs), sequence: layout.maxSequence };
  const base: PerLane<Position> = isUnclean
    ? [maxPosition(known[0], endOfTick), maxPosition(known[1], endOfTick)]
    : known;
  return {
    lane:
      past === undefined
        ? usableLane(known, layout, wallMs, firstLane)
        : laneBelow(base, layout, startOfPast(layout, past), firstLane),
    base,
    // Also for a later holder with another layout.
    odometerMs: isUnclean ? [Math.max(odometerMs[0], wallMs), Math.max(odometerMs[1], wallMs)] : odometerMs,
  };
}

/**
 * First the rows that were given back or never used, then the longest expired; at random among equals, so that starters
 * spread. For the past first the rows that are used the furthest: the others can issue at earlier times.
 */
function inOrderOfTrial(
  candidates: readonly Candidate[],
  { options, code, past, randomness }: SelectionBasis,
): Candidate[] {
  return candidates
    .map((candidate) => ({
      candidate,
      rank: options.priorityEqualCodeWorkId && candidate.row.code === code ? 0 : 1,
      freeSince: candidate.row.token === '' ? 0 : candidate.row.leaseUntilMs,
      used: past === undefined ? 0 : candidate.start.base[candidate.start.lane].tick,
      draw: randomness.fraction(),
    }))
    .sort((a, b) => b.used - a.used || a.rank - b.rank || a.freeSince - b.freeSince || a.draw - b.draw)
    .map(({ candidate }) => candidate);
}

/** Undefined when other processes were faster on every row. */
async function tryRows(ctx: LeaseContext, survey: Survey): Promise<AcquiredRow | undefined> {
  const { session, resolved, options, ports, past } = ctx;
  const { trusted, nowMs, census } = survey;
  const { wallMs } = trusted;
  for (const { row, start } of survey.candidates) {
    const reservation = new Reservation(resolved.layout);
    const grant =
      past === undefined
        ? reservation.firstGrant(start, { nowMs: wallMs, horizonMs: options.horizonMs })
        : reservation.pastGrant(start, past.toMs);
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
  ctx: LeaseContext,
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
    if (ctx.past !== undefined) refuseLaterLayouts(ctx.past, othersEnd, ours);
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

/** @throws NoRowForPastError when another layout has issued at times of the past that is wanted */
function refuseLaterLayouts(past: PastRange, othersEnd: Position, layout: Layout): void {
  if (comparePositions(othersEnd, startOfPast(layout, past)) < 0) return;
  throw new NoRowForPastError(past.fromMs, undefined, layout.timeline.startOf(othersEnd.tick + 1));
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
