import { Layout } from '../layout/layout.js';
import { shapeOfFingerprint } from '../layout/fingerprint.js';
import { BEFORE_ALL, type Position } from '../generator/position.js';
import { LayoutConflictError } from './lease-errors.js';
import { isHeld } from './liveness.js';
import type { KnownLayouts, WorkerRow, WorkerTable } from './worker-store.js';

/** What clears up later than this is no reason to wait. */
const DAY_MS = 86_400_000;

/**
 * Judges every layout that the table has ever seen against ours.
 *
 * A layout whose fixed end bits differ is no concern. One that is alive on a row is in the way. One of the past leaves a
 * one-way cut-over: every ID of ours must be larger than any it can have issued. Where a failover may have lost its last
 * grants, with or without its row, that is up to the floor, unless our layout has been granted more since.
 *
 * @returns the position up to which nothing may be issued because of such a cut-over
 * @throws LayoutConflictError naming layouts and rows
 */
export function judgeLayouts(table: WorkerTable, layout: Layout, graceMs: number): Position {
  const nowTick = layout.timeline.tickAt(table.nowMs);
  const rows = [...table.rows, ...table.deleted];
  let floor = BEFORE_ALL;
  let clearsAtMs: number | undefined = table.nowMs;
  const conflicts: { layout: string; workerIds: number[] }[] = [];
  const { barredUntilMs = 0, floorMs = barredUntilMs } = table;
  const unknownUntilMs = rows.some((row) => isGrantedPast(floorMs, row, layout, table.nowMs)) ? 0 : floorMs;
  for (const fingerprint of layoutsOf(rows, table.layouts)) {
    if (isHarmless(fingerprint, layout)) continue;
    const workerIds = rows
      .filter((row) => row.layout === fingerprint && isHeld(row, table.nowMs, graceMs))
      .map((row) => row.id);
    const lastTick = workerIds.length > 0 ? undefined : lastTickTouched(fingerprint, layout, rows, unknownUntilMs);
    if (lastTick === undefined || lastTick >= nowTick) {
      conflicts.push({ layout: fingerprint, workerIds });
      clearsAtMs = laterOf(clearsAtMs, lastTick === undefined ? undefined : layout.timeline.startOf(lastTick + 1));
    } else if (lastTick > floor.tick) floor = { tick: lastTick, sequence: layout.maxSequence };
  }
  if (conflicts.length === 0) return floor;
  const isSoon = clearsAtMs !== undefined && clearsAtMs - table.nowMs <= DAY_MS;
  throw new LayoutConflictError(layout.fingerprint, conflicts, isSoon ? clearsAtMs : undefined);
}

/**
 * True when none of these layouts can repeat an ID of ours, alive or not: rows need not be looked at then, and
 * {@link judgeLayouts} would find neither a conflict nor a floor.
 */
export function areHarmless(known: KnownLayouts, layout: Layout): boolean {
  return [...known.layouts, ...known.layoutsOfRows].every((fingerprint) => isHarmless(fingerprint, layout));
}

/** @throws LayoutConflictError when there is any other layout, harmless or not */
export function refuseOthers(known: KnownLayouts, { fingerprint }: Layout): void {
  const others = new Set([...known.layouts, ...known.layoutsOfRows].filter((each) => each !== fingerprint));
  if (others.size === 0) return;
  throw new LayoutConflictError(
    fingerprint,
    [...others].map((layout) => ({ layout, workerIds: [] })),
  );
}

function laterOf(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : Math.max(a, b);
}

function layoutsOf(rows: readonly WorkerRow[], layouts: readonly string[]): string[] {
  const all = new Set([...layouts, ...rows.map((row) => row.layout)]);
  all.delete('');
  return [...all].sort();
}

function isHarmless(fingerprint: string, layout: Layout): boolean {
  if (fingerprint === layout.fingerprint) return true;
  const shape = shapeOfFingerprint(fingerprint);
  return shape !== undefined && layout.disjointFrom(new Layout(shape));
}

/**
 * Whether the row shows that a process with our layout was granted IDs of later than `floorMs`. All grants from before the
 * loss end there, so this one was written after it. Then the table tells rightly what the layouts in our way have issued:
 * that process held its row all the time, so that none of theirs could start and lose anything; or it has started since,
 * and was itself judged up to the floor.
 *
 * That a row of ours was written after the floor is not enough: a process that slept through everything gives its row back
 * when it wakes up. A fence is no grant either, nor is what was written while the store's clock was wrong.
 */
function isGrantedPast(floorMs: number, row: WorkerRow, layout: Layout, nowMs: number): boolean {
  const { ms, sequence } = row.odometers[row.lane];
  if (row.layout !== layout.fingerprint || row.heartbeatMs > nowMs) return false;
  return ms > floorMs && sequence < Number.MAX_SAFE_INTEGER;
}

/**
 * The last tick of `layout` that holds an ID which the other layout can have issued; undefined when nobody can tell.
 *
 * A row of any other layout bounds what the other one issued there by its higher odometer. A row of ours was acquired
 * after the judgement that looked at it, and both its lanes began past the floor of then: the lower one bounds it. Its
 * higher one must not: that is our own present, and no second process could ever join the first.
 */
function lastTickTouched(
  fingerprint: string,
  layout: Layout,
  rows: readonly WorkerRow[],
  unknownUntilMs: number,
): number | undefined {
  const shape = shapeOfFingerprint(fingerprint);
  if (shape === undefined) return undefined;
  const other = new Layout(shape);
  const tickOf = (ms: number): number => Number(other.idCeil(ms) >> BigInt(layout.lowBits));
  const ticks = rows.map(({ layout: last, odometers: [a, b] }) =>
    last === layout.fingerprint ? layout.timeline.tickAt(Math.min(a.ms, b.ms)) : tickOf(Math.max(a.ms, b.ms)),
  );
  if (unknownUntilMs > 0) ticks.push(tickOf(unknownUntilMs));
  return Math.max(...ticks);
}
