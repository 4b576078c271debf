import { Layout } from '../layout/layout.js';
import { shapeOfFingerprint } from '../layout/fingerprint.js';
import { BEFORE_ALL, type Position } from '../generator/position.js';
import { LayoutConflictError } from './lease-errors.js';
import type { WorkerTable } from './worker-store.js';

/**
 * Judges every layout that the table has ever seen against ours.
 *
 * A layout whose fixed end bits differ is no concern. One that is alive on a row is in the way. One of the past leaves a
 * one-way cut-over: every ID of ours must be larger than any it can have issued up to the highest odometer.
 *
 * @returns the position up to which nothing may be issued because of such a cut-over
 * @throws LayoutConflictError naming layouts and rows
 */
export function judgeLayouts(table: WorkerTable, layout: Layout, graceMs: number): Position {
  const inTheWay = layoutsOf(table).filter((each) => !isHarmless(each, layout));
  if (inTheWay.length === 0) return BEFORE_ALL;

  const highestMs = table.rows.reduce((ms, { odometers: [a, b] }) => Math.max(ms, a.ms, b.ms), 0);
  const nowTick = layout.timeline.tickAt(table.nowMs);
  let floor = BEFORE_ALL;
  const conflicts: { layout: string; workerIds: number[] }[] = [];
  for (const fingerprint of inTheWay) {
    const workerIds = table.rows
      .filter((row) => row.layout === fingerprint && row.token !== '' && table.nowMs < row.leaseUntilMs + graceMs)
      .map((row) => row.id);
    const lastTick = workerIds.length > 0 ? undefined : lastTickTouched(fingerprint, layout, highestMs);
    if (lastTick === undefined || lastTick >= nowTick) conflicts.push({ layout: fingerprint, workerIds });
    else if (lastTick > floor.tick) floor = { tick: lastTick, sequence: layout.maxSequence };
  }
  if (conflicts.length > 0) throw new LayoutConflictError(layout.fingerprint, conflicts);
  return floor;
}

function layoutsOf({ rows, layouts }: WorkerTable): string[] {
  const all = new Set([...layouts, ...rows.map((row) => row.layout)]);
  all.delete('');
  return [...all].sort();
}

function isHarmless(fingerprint: string, layout: Layout): boolean {
  if (fingerprint === layout.fingerprint) return true;
  const shape = shapeOfFingerprint(fingerprint);
  return shape !== undefined && layout.disjointFrom(new Layout(shape));
}

/** The last tick of `layout` that holds an ID which the other layout can have issued; undefined when nobody can tell. */
function lastTickTouched(fingerprint: string, layout: Layout, highestMs: number): number | undefined {
  const shape = shapeOfFingerprint(fingerprint);
  if (shape === undefined) return undefined;
  return Number(new Layout(shape).idCeil(highestMs) >> BigInt(layout.lowBits));
}
