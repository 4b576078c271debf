import type { Lane, PerLane, Position } from '../generator/tenure.js';
import type { Layout } from '../layout/layout.js';
import type { Odometer, WorkerRow } from './worker-store.js';

/**
 * A row's odometer as a position of `layout`. The sequence of another layout means nothing in ours: the whole tick
 * counts.
 */
export function positionOf(odometer: Odometer, row: WorkerRow, layout: Layout): Position {
  const sameLayout = row.layout === layout.fingerprint || row.layout === '';
  return { tick: layout.timeline.tickAt(odometer.ms), sequence: sameLayout ? odometer.sequence : layout.maxSequence };
}

/**
 * Positions as odometers.
 * @param leastMs the odometers that the row had: an odometer never falls, and another layout's tick may start later
 * inside the same tick of ours
 */
export function odometersOf(positions: PerLane<Position>, layout: Layout, leastMs: PerLane<number>): PerLane<Odometer> {
  const odometerOf = (lane: Lane): Odometer => ({
    ms: Math.max(layout.timeline.startOf(positions[lane].tick), leastMs[lane]),
    sequence: positions[lane].sequence,
  });
  return [odometerOf(0), odometerOf(1)];
}
