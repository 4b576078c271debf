import { BEFORE_ALL, maxPosition, type PerLane, type Position } from '../generator/position.js';

const NOTHING: PerLane<Position> = [BEFORE_ALL, BEFORE_ALL];

/**
 * How far this process has issued under each worker id it had: one that comes back goes on from there, wherever the clock
 * stands.
 */
export class OwnPast {
  private readonly marks = new Map<number, PerLane<Position>>();

  /** Takes note at the end of a tenure of how far it has issued. */
  note(workerId: number, reached: PerLane<Position>): void {
    const [first, second] = this.of(workerId);
    this.marks.set(workerId, [maxPosition(first, reached[0]), maxPosition(second, reached[1])]);
  }

  of(workerId: number): PerLane<Position> {
    return this.marks.get(workerId) ?? NOTHING;
  }
}
