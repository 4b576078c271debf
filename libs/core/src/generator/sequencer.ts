import { IdWalk } from './id-walk.js';
import { BEFORE_ALL, comparePositions, otherLane, type Lane, type PerLane, type Position } from './position.js';

/**
 * Where one code stands on its worker's two lanes.
 *
 * A lane is an odometer: its mark only goes up. The current lane's mark is (`tick`, `sequence`); the other one rests.
 * Others read the fields; only the methods here move the mark, and whoever writes a batch from it.
 */
export class Sequencer extends IdWalk {
  lane: Lane = 0;
  tick = Number.NEGATIVE_INFINITY;
  /** The other lane's mark. */
  resting: Position = BEFORE_ALL;

  /** The highest tick of the wall clock at which the current lane was used: below it the clock went back. */
  wallTick = Number.NEGATIVE_INFINITY;
  /** Since when the lane has been held, monotonic ms; NaN while it is not. */
  private heldSince = Number.NaN;
  /** The tick on which the hold began. */
  heldTick = 0;

  /** The tenure the marks belong to. */
  tenure = 0;
  /** The tick whose IDs are known. */
  private knownTick = Number.NaN;

  /** IDs issued so far are `countBase + sequence`: counting costs the fast path nothing. */
  private countBase = 1;
  /** How many of them {@link takeUncounted} has answered with. */
  private counted = 0;
  /** True when the code was used again since it came, or since the eviction hand last passed. */
  private used = false;
  /** True when the code was evicted: whoever still has this must look the code up again. */
  evicted = false;

  /** @param slot its place among those that are counted together */
  constructor(readonly slot = -1) {
    super();
  }

  get issued(): number {
    return this.countBase + this.sequence;
  }

  /** How many were issued since the last call. */
  takeUncounted(): number {
    const fresh = this.issued - this.counted;
    this.counted += fresh;
    return fresh;
  }

  /** Moves the mark; every move is one ID. */
  moveTo(tick: number, sequence: number): void {
    this.countBase += this.sequence + 1 - sequence;
    this.tick = tick;
    this.sequence = sequence;
  }

  /** Whether the mark stands on a tick whose IDs are not known: {@link useIds} is due. */
  get isOnNewTick(): boolean {
    return this.knownTick !== this.tick;
  }

  override useIds(base: bigint, step: number, areSafe: boolean): void {
    super.useIds(base, step, areSafe);
    this.knownTick = this.tick;
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

  /** The lane is used at this tick of a clock that is right. */
  follow(wallTick: number): void {
    this.wallTick = wallTick;
    this.heldSince = Number.NaN;
  }

  /** The lane is ahead of the clock and stays where it is; for how long already, ms. @param now monotonic ms */
  hold(now: number): number {
    if (Number.isNaN(this.heldSince)) {
      this.heldSince = now;
      this.heldTick = this.tick;
    }
    return now - this.heldSince;
  }

  /** Starts a tenure: both lanes at its floors. */
  begin(tenure: number, lane: Lane, floors: PerLane<Position>, wallTick: number): void {
    this.tenure = tenure;
    this.lane = lane;
    this.putMark(floors[lane]);
    this.resting = floors[otherLane(lane)];
    this.follow(Math.min(this.tick, wallTick));
    this.knownTick = Number.NaN;
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
    this.follow(wallTick);
    this.knownTick = Number.NaN;
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
    this.stop();
    this.knownTick = Number.NaN;
  }

  /** One that stands at the same place, to try on it what would happen. */
  copy(): Sequencer {
    const copy = new Sequencer();
    copy.restore(this);
    copy.heldSince = this.heldSince;
    copy.heldTick = this.heldTick;
    return copy;
  }

  /** The code is used again. */
  use(): void {
    this.used = true;
  }

  /** The eviction hand passes: whether the code was used since the last time. */
  takeChance(): boolean {
    const { used } = this;
    this.used = false;
    return used;
  }

  /** The code makes room for others. */
  evict(): void {
    this.evicted = true;
    this.stop();
  }

  /** Sets the current mark without issuing. */
  private putMark(mark: Position): void {
    this.countBase += this.sequence - mark.sequence;
    this.tick = mark.tick;
    this.sequence = mark.sequence;
  }
}
