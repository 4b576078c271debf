import { BEFORE_ALL, comparePositions, otherLane, type Lane, type PerLane, type Position } from './position.js';

/**
 * Where one code stands on its worker's two lanes, and what the fast path needs to go one further.
 *
 * A lane is an odometer: its mark only goes up. The current lane's mark is (`tick`, `sequence`); the other one rests.
 */
export class Sequencer {
  lane: Lane = 0;
  tick = Number.NEGATIVE_INFINITY;
  sequence = -1;
  /** The other lane's mark. */
  resting: Position = BEFORE_ALL;

  /** The highest tick of the wall clock at which the current lane was used: below it the clock went back. */
  wallTick = Number.NEGATIVE_INFINITY;
  /** Since when the lane has been held, monotonic ms; NaN while it is not. */
  heldSince = Number.NaN;
  /** The tick on which the hold began. */
  heldTick = 0;

  /** The tenure the marks belong to. */
  tenure = 0;
  /** The window of the issuer in which `last` holds; -1 for none. */
  window = -1;
  /** The last sequence that needs no second look. */
  last = -1;
  /** The ID of sequence 0 at (`lane`, `tick`). */
  idBase = 0n;
  /** The tick that `idBase` stands for. */
  idBaseTick = Number.NaN;
  /** `idBase` as a number; NaN where the tick's IDs may pass 2^53 - 1. */
  numberBase = Number.NaN;
  /** The ID at the mark, and what two neighbours differ by: 64-bit cells add without a bigint in between. */
  readonly cell = new BigInt64Array(2);
  /** All of an ID but its last four digits, for those whose number `tailBase` + offset has no more than four. */
  head = '';
  tailBase = Number.NaN;

  /** IDs issued so far are `countBase + sequence`: counting costs the fast path nothing. */
  private countBase = 1;
  /** Set when the code was used again since it came, or since the eviction hand last passed. */
  used = false;
  evicted = false;
  /** How many of those issued {@link IssuedTotal} has taken in, and its place there. */
  counted = 0;
  slot = -1;

  get issued(): number {
    return this.countBase + this.sequence;
  }

  /** Moves the mark; every move is one ID. */
  moveTo(tick: number, sequence: number): void {
    this.countBase += this.sequence + 1 - sequence;
    this.tick = tick;
    this.sequence = sequence;
  }

  /** The mark of a lane. */
  markOf(lane: Lane): Position {
    return lane === this.lane ? { tick: this.tick, sequence: this.sequence } : this.resting;
  }

  /** Whether a lane's mark comes after a position. */
  isPast({ tick, sequence }: Position, lane: Lane): boolean {
    const mark = lane === this.lane ? this : this.resting;
    return mark.tick > tick || (mark.tick === tick && mark.sequence > sequence);
  }

  /** Starts a tenure: both lanes at its floors. */
  begin(tenure: number, lane: Lane, floors: PerLane<Position>, wallTick: number): void {
    this.tenure = tenure;
    this.lane = lane;
    this.putMark(floors[lane]);
    this.resting = floors[otherLane(lane)];
    this.wallTick = Math.min(this.tick, wallTick);
    this.heldSince = Number.NaN;
    this.idBaseTick = Number.NaN;
  }

  /** Raises both marks to these floors where they are below them. */
  raise(floors: PerLane<Position>): void {
    const floor = floors[this.lane];
    if (floor.tick > this.tick || (floor.tick === this.tick && floor.sequence > this.sequence)) this.putMark(floor);
    const resting = floors[otherLane(this.lane)];
    if (comparePositions(resting, this.resting) > 0) this.resting = resting;
  }

  /** Changes to the other lane, at its mark. */
  flip(wallTick: number): void {
    const mark = this.resting;
    this.resting = { tick: this.tick, sequence: this.sequence };
    this.lane = otherLane(this.lane);
    this.putMark(mark);
    this.wallTick = wallTick;
    this.heldSince = Number.NaN;
    this.idBaseTick = Number.NaN;
  }

  /**
   * Puts the marks of another sequencer in place of this one's, to take a failed batch back. A hold stays begun: it
   * would never end for somebody whose batches fail.
   */
  restore(from: Sequencer): void {
    this.lane = from.lane;
    this.tick = from.tick;
    this.sequence = from.sequence;
    this.resting = from.resting;
    this.wallTick = from.wallTick;
    this.tenure = from.tenure;
    this.countBase = from.countBase;
    this.window = -1;
    this.idBaseTick = Number.NaN;
  }

  /** One that stands at the same place, to try on it what would happen. */
  copy(): Sequencer {
    const copy = new Sequencer();
    copy.restore(this);
    copy.heldSince = this.heldSince;
    copy.heldTick = this.heldTick;
    return copy;
  }

  /** Sets the current mark without issuing. */
  private putMark(mark: Position): void {
    this.countBase += this.sequence - mark.sequence;
    this.tick = mark.tick;
    this.sequence = mark.sequence;
  }
}
