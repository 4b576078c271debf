import type { Layout } from '../layout/layout.js';
import type { Position } from '../generator/position.js';
import type { Odometer, WorkerRow } from './worker-store.js';

/**
 * A row's odometer as a position of `layout`.
 *
 * Under another layout sequences mean something else: the whole tick counts as used then.
 */
export function positionOf(odometer: Odometer, row: WorkerRow, layout: Layout): Position {
  const sameLayout = row.layout === layout.fingerprint || row.layout === '';
  return { tick: layout.timeline.tickAt(odometer.ms), sequence: sameLayout ? odometer.sequence : layout.maxSequence };
}

/**
 * A position as an odometer.
 * @param floorMs what the row already said: another layout's ticks may start later inside the same tick of ours, and an
 * odometer never falls.
 */
export function odometerOf(position: Position, layout: Layout, floorMs: number): Odometer {
  return { ms: Math.max(layout.timeline.startOf(position.tick), floorMs), sequence: position.sequence };
}
