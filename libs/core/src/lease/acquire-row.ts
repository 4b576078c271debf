import { ConfigurationError } from '../config/configuration-error.js';
import { maxPosition, type Lane, type Position } from '../generator/position.js';
import type { Layout } from '../layout/layout.js';
import { glanceAt, type Glance } from './clock-watch.js';
import { HeldRow } from './held-row.js';
import { judgeLayouts } from './layout-conflicts.js';
import { validatedNow, writeOf, type LeaseContext } from './lease-context.js';
import { NoFreeWorkerError, StoreUnavailableError, type WorkerCensus } from './lease-errors.js';
import { odometersOf } from './odometer.js';
import { releaseRow } from './release-row.js';
import type { Plan, Reservation, Start } from './reservation.js';
import { isForeign, selectRows } from './row-selection.js';
import type { Odometer, WorkerRow, WorkerTable } from './worker-store.js';

/** A row that is ours, and what it grants. */
export interface Acquired {
  readonly held: HeldRow;
  readonly start: Start;
  readonly plan: Plan;
  /** Monotonic ms before the write was sent: the lease counts from there. */
  readonly sentMs: number;
  /** Clock and process when they were held against the database, before the write. */
  readonly trusted: Glance;
  /** This host's clock minus the database's. */
  readonly clockOffsetMs: number;
  /** The rows of our range as they were found. */
  readonly census: WorkerCensus;
}

const DAY_MS = 86_400_000;

/**
 * One round of acquiring: read the table, try the free rows in turn, and look once more whether another layout came in
 * between. A write whose outcome is unknown is forgotten with its token; its row comes free when that lease ends.
 *
 * @throws NoFreeWorkerError, LayoutConflictError, ClockSkewError, ConfigurationError, StoreUnavailableError
 */
export async function acquireRow(ctx: LeaseContext, reservation: Reservation): Promise<Acquired> {
  const { session, resolved, options, identity, ports } = ctx;
  const table = await session.run('reading the workers', (store) => store.readTable());
  const wallMs = validatedNow(ctx, table.nowMs, true);
  const trusted = glanceAt(wallMs, ports);
  refuseShortLifeOfNewTable(ctx, table);
  const floor = judgeLayouts(table, resolved.layout, options.graceMs);
  const selection = selectRows(table, {
    ...resolved,
    options,
    wallMs,
    floor,
    code: identity.code,
    randomness: ports.randomness,
  });
  let contended = 0;
  for (const { row, start } of selection.candidates) {
    const plan = reservation.planStart(start, { nowMs: wallMs, horizonMs: options.horizonMs });
    const token = ports.randomness.token();
    const sentMs = ports.monotonic.now();
    const expected = { version: row.version, token: row.token };
    const write = writeOf(ctx, { id: row.id, expected, token, lane: plan.lane, odometers: plan.odometers });
    if (await session.run('acquiring a worker', (store) => store.write(write))) {
      const held = new HeldRow(row.id, row.version + 1, token);
      const laterFloor = await vouchForLayout(ctx, held, unused(row, start, resolved.layout), trusted);
      const base = [maxPosition(plan.base[0], laterFloor), maxPosition(plan.base[1], laterFloor)] as const;
      const { census } = selection;
      return { held, start, plan: { ...plan, base }, sentMs, trusted, clockOffsetMs: wallMs - table.nowMs, census };
    }
    contended++;
  }
  throw new NoFreeWorkerError({ ...selection.census, contended });
}

/**
 * Two layouts that start together both pass the first look; at least one of them sees the other now.
 * @returns the floor by what the table says now
 */
async function vouchForLayout(
  ctx: LeaseContext,
  held: HeldRow,
  unused: Pick<WorkerRow, 'lane' | 'odometers' | 'layout'>,
  trusted: Glance,
): Promise<Position> {
  const { layout: ours } = ctx.resolved;
  try {
    const table = await ctx.session.run('confirming the layout', (store) => store.readTable());
    const verdict = held.judge(table.rows.find(({ id }) => id === held.id));
    if (verdict.kind !== 'unchanged') {
      throw new StoreUnavailableError('confirming the layout', new Error('the row just acquired is not ours'));
    }
    const floor = judgeLayouts(table, ours, ctx.options.graceMs);
    if (!table.layouts.includes(ours.fingerprint)) {
      await ctx.session.run('noting the layout', (store) => store.rememberLayout(ours.fingerprint));
    }
    return floor;
  } catch (error) {
    // Nothing was issued, so the row goes back. Unless a copy of this memory holds it as well: that one may get further.
    if (ctx.ports.processId() === trusted.processId) {
      const { lane, layout, odometers } = unused;
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
function unused(row: WorkerRow, start: Start, layout: Layout): Pick<WorkerRow, 'lane' | 'odometers' | 'layout'> {
  if (!isForeign(row) && row.layout !== layout.fingerprint) {
    const left = (lane: Lane): Odometer => {
      const [found, ms] = [row.odometers[lane], start.floorMs[lane]];
      return ms > found.ms ? { ms, sequence: Number.MAX_SAFE_INTEGER } : found;
    };
    return { lane: row.lane, layout: row.layout, odometers: [left(0), left(1)] };
  }
  return { lane: row.lane, odometers: odometersOf(start.base, layout, start.floorMs), layout: layout.fingerprint };
}

/** A layout that ends soon is refused on a table that was never used; later it may only warn. */
function refuseShortLifeOfNewTable({ resolved }: LeaseContext, table: WorkerTable): void {
  const { layout, minLifetimeDays } = resolved;
  const wasUsed = table.layouts.length > 0 || table.rows.some((row) => row.code !== '');
  if (wasUsed || layout.expiresAt === null) return;
  if (layout.expiresAt.getTime() - table.nowMs >= minLifetimeDays * DAY_MS) return;
  const message = `the layout expires at ${layout.expiresAt.toISOString()}, within minLifetimeDays (${minLifetimeDays}): take a later startTimeStamp or more bits`;
  throw new ConfigurationError([{ option: 'timeStampLength', given: String(layout.fields[0]?.bits), message }]);
}
