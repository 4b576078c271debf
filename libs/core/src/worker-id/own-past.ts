import { BEFORE_ALL, maxPosition, type Lane, type PerLane, type Position } from '../generator/position.js';

const NOTHING: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];

/**
 * How far this process has issued under each worker id it had: one that comes back goes on from there, wherever the clock
 * stands.
 */
export class OwnPast {
  private readonly marks = new Map<number, PerLane<Position>>();
  /** Nobody knows until somebody says so. */
  private highest: (lane: Lane) => Position = () => BEFORE_ALL;

  /** Names who knows the highest position issued in the present tenure, by lane. */
  reportedBy(highest: (lane: Lane) => Position): void {
    this.highest = highest;
  }

  /** Takes note at the end of a tenure, while it is still the present one. */
  note(workerId: number): void {
    const [first, second] = this.of(workerId);
    this.marks.set(workerId, [maxPosition(first, this.highest(0)), maxPosition(second, this.highest(1))]);
  }

  of(workerId: number): PerLane<Position> {
    return this.marks.get(workerId) ?? NOTHING;
  }
}
