import { ConfigurationError } from '../config/configuration-error.js';
import { BEFORE_ALL, type Position } from '../generator/position.js';
import type { Layout } from '../layout/layout.js';
import { glanceAt, type Glance } from './clock-watch.js';
import { areHarmless, judgeLayouts, refuseOthers } from './layout-conflicts.js';
import { validatedNow, type LeaseContext } from './lease-context.js';
import { StoreUnavailableError, type WorkerCensus } from './lease-errors.js';
import { ForeignRowsError } from './foreign-errors.js';
import { isForeign } from './worker-rows.js';
import { selectRows, type Candidate } from './row-selection.js';
import { raisedTo } from './store-term.js';
import { checkForeignTimes } from './store-session.js';
import { HELD_TOO, type WorkerRow, type WorkerTable } from './worker-store.js';

/** What a look at the table has shown. */
export interface Look {
  /** The database's clock. */
  readonly nowMs: number;
  /** Clock and process when they were held against the database. */
  readonly trusted: Glance;
  /** In the order in which they should be tried. */
  readonly candidates: readonly Candidate[];
  /** The rows of our range as they were found. */
  readonly census: WorkerCensus;
  /** How long the store bars all rows by this host's clock, to the end of the tick, ms. */
  readonly barredForMs: number;
}

/** Our own row once more, and what the layouts on the table say now. */
export interface SecondLook {
  readonly row: WorkerRow | undefined;
  /** Nothing up to here may be issued; see judgeLayouts. */
  readonly floor: Position;
  /** Whether our layout is remembered. */
  readonly isNoted: boolean;
}

const DAY_MS = 86_400_000;

/** Rows of one sample: a crowd of starters needs some to lose, and each costs a cold process 10 to 20 µs. */
const SAMPLE_SIZE = 16;

/**
 * A look at a few free rows: enough for nearly every start, and much faster in a process that has just begun. Undefined
 * when more of the table has to be known: a layout that could repeat our IDs, a row of another program, a preferred code,
 * an end in sight.
 *
 * Only the number of all and of the held ones is right in its census.
 *
 * @throws ClockSkewError, StoreUnavailableError
 */
export async function lookAtSample(ctx: LeaseContext): Promise<Look | undefined> {
  const { session, resolved, options, ports } = ctx;
  if (options.priorityEqualCodeWorkId || options.sharedWithOriginal) return undefined;
  const { min, max } = resolved.workers;
  const workers = { min, max: Math.min(max, resolved.layout.maxWorkerId) };
  const from = min + Math.floor(ports.randomness.fraction() * (workers.max - min + 1));
  const request = { workers, from, atMost: SAMPLE_SIZE, graceMs: options.graceMs };
  const sample = await session.run('reading the workers', (store) => store.readSample(request));
  const wallMs = validatedNow(ctx, sample.nowMs, true);
  if (sample.foreign > 0 || endsSoon(ctx, sample.nowMs) || !areHarmless(sample, resolved.layout)) return undefined;
  const { total, live } = sample;
  const look = select(ctx, sample, wallMs, BEFORE_ALL);
  return { ...look, census: { ...look.census, total, live } };
}

/**
 * @throws LayoutConflictError, ForeignRowsError, ForeignTimeZoneError, ClockSkewError, ConfigurationError,
 * StoreUnavailableError
 */
export async function lookAtTable(ctx: LeaseContext): Promise<Look> {
  const table = await ctx.session.run('reading the workers', (store) => store.readTable());
  await judgeForeignRows(ctx, table);
  const wallMs = validatedNow(ctx, table.nowMs, true);
  refuseShortLifeOfNewTable(ctx, table);
  // What layouts have issued is judged when the holders that go on have had the time to write it down again.
  const barred = select(ctx, table, wallMs, BEFORE_ALL);
  if (barred.barredForMs > 0) return { ...barred, candidates: [] };
  return select(ctx, table, wallMs, judgeLayouts(table, ctx.resolved.layout, ctx.options.graceMs));
}

/**
 * @param found the row as it was before it was acquired
 * @param wallMs when the row was chosen: by then nothing was barred
 * @throws LayoutConflictError; StoreUnavailableError, also when the store has lost something meanwhile
 */
export async function lookAgain(ctx: LeaseContext, found: WorkerRow, wallMs: number): Promise<SecondLook> {
  const { session, resolved, options } = ctx;
  const { layout } = resolved;
  const { id } = found;
  const request = { workers: { min: id, max: id }, from: id, atMost: 1, graceMs: HELD_TOO };
  const seen = await session.run('confirming the layout', (store) => store.readSample(request));
  if (barredForMs(layout, seen.barredUntilMs, wallMs) > 0) {
    throw new StoreUnavailableError(
      'confirming the row',
      new Error('the store may have lost grants since it was read'),
    );
  }
  const isNoted = seen.layouts.includes(layout.fingerprint);
  if (ctx.isFirstLayout === true && !isNoted) refuseOthers(seen, layout);
  if (areHarmless(seen, layout)) return { row: seen.rows[0], floor: BEFORE_ALL, isNoted };
  const table = await session.run('confirming the layout', (store) => store.readTable());
  const rows = table.rows.filter((row) => row.id !== id);
  // What we have just written vouches for nothing; what stood there before still does.
  if (found.layout === layout.fingerprint) rows.push(found);
  return {
    row: table.rows.find((row) => row.id === id),
    floor: judgeLayouts({ ...table, rows }, layout, options.graceMs),
    isNoted: table.layouts.includes(layout.fingerprint),
  };
}

function select(
  { resolved, options, identity, ports }: LeaseContext,
  found: Pick<WorkerTable, 'nowMs' | 'rows' | 'barredUntilMs' | 'floorMs'>,
  wallMs: number,
  floor: Position,
): Look {
  const { code } = identity;
  const basis = { ...resolved, options, wallMs, floor, code, randomness: ports.randomness };
  const { nowMs, barredUntilMs = 0, floorMs = barredUntilMs } = found;
  const rows = found.rows.map((row) => raisedTo(floorMs, row));
  const selected = selectRows({ nowMs, rows }, basis);
  const barredMs = barredForMs(resolved.layout, barredUntilMs, wallMs);
  return { nowMs, trusted: glanceAt(wallMs, ports), ...selected, barredForMs: barredMs };
}

/** How long nobody may acquire: to the end of the barred moment's tick. */
function barredForMs({ timeline }: Layout, barredUntilMs: number = 0, wallMs: number): number {
  return Math.max(0, timeline.startOf(timeline.tickAt(barredUntilMs) + 1) - wallMs);
}

/** Rows of other programs need somebody's consent, and times that all take for the same moments. */
async function judgeForeignRows({ session, options, resolved }: LeaseContext, { rows }: WorkerTable): Promise<void> {
  const foreign = rows.filter(isForeign).map(({ id }) => id);
  if (foreign.length > 0 && !options.adoptForeign) throw new ForeignRowsError(foreign.sort((a, b) => a - b));
  if (foreign.length > 0 || options.sharedWithOriginal) await checkForeignTimes(session);
  const { min, max } = resolved.workers;
  if (!options.sharedWithOriginal || rows.some(({ id }) => id >= min && id <= max)) return;
  const message =
    `the table has no row of workers ${min} to ${max}, and none is added where the original would take it as well: let the ` +
    `original create table and rows first, or give a range of its rows`;
  throw new ConfigurationError([{ option: 'sharedWithOriginal', given: 'true', message }]);
}

/** A layout that ends soon is refused on a table that was never used; later it may only warn. */
function refuseShortLifeOfNewTable(ctx: LeaseContext, table: WorkerTable): void {
  const wasUsed = table.layouts.length > 0 || table.rows.some((row) => row.code !== '');
  if (wasUsed || !endsSoon(ctx, table.nowMs)) return;
  const { layout, minLifetimeDays } = ctx.resolved;
  const message = `the layout expires at ${layout.expiresAt?.toISOString()}, within minLifetimeDays (${minLifetimeDays}): take a later startTimeStamp or more bits`;
  throw new ConfigurationError([{ option: 'timeStampLength', given: String(layout.fields[0]?.bits), message }]);
}

function endsSoon({ resolved }: LeaseContext, nowMs: number): boolean {
  const { layout, minLifetimeDays } = resolved;
  return layout.expiresAt !== null && layout.expiresAt.getTime() - nowMs < minLifetimeDays * DAY_MS;
}
