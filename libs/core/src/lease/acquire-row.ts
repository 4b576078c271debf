import { maxPosition, type Lane, type Position } from '../generator/position.js';
import type { Layout } from '../layout/layout.js';
import type { Glance } from './clock-watch.js';
import { HeldRow } from './held-row.js';
import { writeOf, type LeaseContext } from './lease-context.js';
import { NoFreeWorkerError, StoreUnavailableError, type WorkerCensus } from './lease-errors.js';
import { odometersOf } from './odometer.js';
import { releaseRow } from './release-row.js';
import { Reservation } from './reservation.js';
import { isForeign } from './worker-rows.js';
import { type Candidate } from './row-selection.js';
import { lookAgain, lookAtSample, lookAtTable, type Look } from './table-look.js';
import type { Odometer, WorkerRow } from './worker-store.js';

/** A row that is ours, and what it grants. */
export interface Acquired {
  readonly held: HeldRow;
  readonly reservation: Reservation;
  /** Monotonic ms before the write was sent: the lease counts from there. */
  readonly sentMs: number;
  /** Clock and process when they were held against the database, before the write. */
  readonly trusted: Glance;
  /** This host's clock minus the database's. */
  readonly clockOffsetMs: number;
  /** The rows of our range as they were found. */
  readonly census: Pick<WorkerCensus, 'total' | 'live'>;
}

/**
 * One round of acquiring: look at a few free rows, or at the whole table where that does not do, try them in turn, and
 * look once more whether another layout came in between. A write whose outcome is unknown is forgotten with its token;
 * its row comes free when that lease ends.
 *
 * @throws NoFreeWorkerError, LayoutConflictError, ClockSkewError, ConfigurationError, StoreUnavailableError
 */
export async function acquireRow(ctx: LeaseContext): Promise<Acquired> {
  const sample = await lookAtSample(ctx);
  const early = sample && (await tryRows(ctx, sample));
  if (early !== undefined) return early;
  const look = await lookAtTable(ctx);
  const acquired = await tryRows(ctx, look);
  if (acquired !== undefined) return acquired;
  throw new NoFreeWorkerError({ ...look.census, contended: look.candidates.length }, look.barredForMs);
}

/** Undefined when others were faster on every row. */
async function tryRows(ctx: LeaseContext, look: Look): Promise<Acquired | undefined> {
  const { session, resolved, options, ports } = ctx;
  const { trusted, nowMs, census } = look;
  const { wallMs } = trusted;
  for (const { row, start } of look.candidates) {
    const reservation = new Reservation(resolved.layout);
    const plan = reservation.planStart(start, { nowMs: wallMs, horizonMs: options.horizonMs });
    const token = ports.randomness.token();
    const sentMs = ports.monotonic.now();
    const expected = { version: row.version, token: row.token };
    const write = writeOf(ctx, { id: row.id, expected, token, lane: plan.lane, odometers: plan.odometers });
    if (await session.run('acquiring a worker', (store) => store.write(write))) {
      const held = new HeldRow(row.id, row.version + 1, token);
      // A primary that was replaced, and serves on the sessions that it has, shows a lease as over which its holder renews at
      // the successor. New sessions lead there.
      if (row.token !== '') session.reconnect();
      const laterFloor = await vouchForLayout(ctx, held, { row, start }, trusted);
      const base = [maxPosition(plan.base[0], laterFloor), maxPosition(plan.base[1], laterFloor)] as const;
      reservation.begin(start, { ...plan, base });
      return { held, reservation, sentMs, trusted, clockOffsetMs: wallMs - nowMs, census };
    }
  }
  return undefined;
}

/**
 * Two layouts that start together both pass the first look; at least one of them sees the other now.
 * @returns the floor by what the table says now
 */
async function vouchForLayout(ctx: LeaseContext, held: HeldRow, found: Candidate, trusted: Glance): Promise<Position> {
  const { layout: ours } = ctx.resolved;
  try {
    const { row, floor, isNoted } = await lookAgain(ctx, found.row, trusted.wallMs);
    if (held.judge(row).kind !== 'unchanged') {
      throw new StoreUnavailableError('confirming the layout', new Error('the row just acquired is not ours'));
    }
    if (!isNoted) await ctx.session.run('noting the layout', (store) => store.rememberLayout(ours.fingerprint));
    return floor;
  } catch (error) {
    // Nothing was issued, so the row goes back. Unless a copy of this memory holds it as well: that one may get further.
    if (ctx.ports.processId() === trusted.processId) {
      const { lane, layout, odometers } = unused(found, ours);
      await releaseRow(ctx, held, { lane, layout, odometers: () => odometers });
    }
    throw error;
  }
}

/**
 * How a row goes back from which nothing was issued: at our base, which remembers a foreign or an unclean past that our
 * write has covered up; under another layout as it was found, since our base knows no more than its ticks, but past the
 * moment up to which an unclean past reaches.
 */
function unused({ row, start }: Candidate, layout: Layout): Pick<WorkerRow, 'lane' | 'odometers' | 'layout'> {
  if (!isForeign(row) && row.layout !== layout.fingerprint) {
    const left = (lane: Lane): Odometer => {
      const [found, ms] = [row.odometers[lane], start.floorMs[lane]];
      return ms > found.ms ? { ms, sequence: Number.MAX_SAFE_INTEGER } : found;
    };
    return { lane: row.lane, layout: row.layout, odometers: [left(0), left(1)] };
  }
  return { lane: row.lane, odometers: odometersOf(start.base, layout, start.floorMs), layout: layout.fingerprint };
}
