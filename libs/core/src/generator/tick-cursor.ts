import { BEFORE_ALL, comparePositions, type Lane, otherLane, type PerLane, type Position } from './tenure.js';

/** The fast path: goes up the IDs of one tick inside a window of the issuer, with two comparisons for each. */
class TickCursor implements DecimalCursor {
  sequence = -1;
  readonly counter = new BigInt64Array(2);
  head = '';
  tailBase = Number.NaN;
  /** The ID of sequence 0 as a number; NaN where the tick's IDs may pass 2^53 - 1. */
  numberBase = Number.NaN;
  private idBase = 0n;
  /** The window in which `last` holds; -1 for none. */
  private window = -1;
  /** The last sequence that needs no second look. */
  private last = -1;

  /** One further, if it is still this window and needs no second look. */
  advance(window: number): boolean {
    if (this.window !== window || this.sequence >= this.last) return false;
    this.sequence++;
    this.counter[0] = this.counter[0]! + this.counter[1]!;
    return true;
  }

  /** How much further {@link advance} would go in this window. */
  runLength(window: number): number {
    return this.window === window ? Math.max(0, this.last - this.sequence) : 0;
  }

  /** Lets {@link advance} go up to a sequence in this window; -1 for no window. */
  allow(last: number, window: number): void {
    this.last = last;
    this.window = window;
  }

  /** Lets {@link advance} go nowhere. */
  stop(): void {
    this.window = -1;
  }

  /** Another tick has these IDs. @param base that of sequence 0. @param areSafe whether all of them fit a number */
  beginTick(base: bigint, step: number, areSafe: boolean): void {
    this.idBase = base;
    this.numberBase = areSafe ? Number(base) : Number.NaN;
    this.tailBase = Number.NaN;
    this.counter[1] = BigInt(step);
  }

  /** Makes the ID of `sequence`. */
  computeId(step: number): void {
    this.counter[0] = this.idBase + BigInt(this.sequence * step);
  }
}

/**
 * Where one code stands on its worker's two lanes.
 *
 * A lane is an odometer: its mark only goes up. The current lane's mark is (`tick`, `sequence`); the other one rests.
 * Others read the fields; only the methods here move the mark, and whoever writes a batch from it.
 */
export class Sequencer extends TickCursor {
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

  /** Whether the mark stands on a tick whose IDs are not known: {@link beginTick} is due. */
  get isOnNewTick(): boolean {
    return this.knownTick !== this.tick;
  }

  override beginTick(base: bigint, step: number, areSafe: boolean): void {
    super.beginTick(base, step, areSafe);
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
  followClock(wallTick: number): void {
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
  beginTenure(tenure: number, lane: Lane, floors: PerLane<Position>, wallTick: number): void {
    this.tenure = tenure;
    this.lane = lane;
    this.putMark(floors[lane]);
    this.resting = floors[otherLane(lane)];
    this.followClock(Math.min(this.tick, wallTick));
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
    this.followClock(wallTick);
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
  markUsed(): void {
    this.used = true;
  }

  /** The eviction hand passes: whether the code was used since the last time. */
  takeSecondChance(): boolean {
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

/** Where something stands that counts up in equal steps, with what is known of its text. */
export interface DecimalCursor {
  sequence: number;
  /** The number at `sequence`, and what two neighbours differ by: 64-bit cells add without a bigint in between. */
  readonly counter: BigInt64Array;
  /** All of a number but its last four digits, for those whose number `tailBase` + offset has no more than four. */
  head: string;
  tailBase: number;
}

/** `0000` to `9999`. */
const TAILS: readonly string[] = Array.from({ length: 10_000 }, (_, tail) => String(tail).padStart(4, '0'));

/**
 * The ID at the mark as decimal text: a head that 10,000 neighbours share, and a tail from a table. About a quarter of
 * what `BigInt.prototype.toString` takes.
 */
export function decimalText(s: DecimalCursor, sequenceStep: number): string {
  const tail = s.tailBase + s.sequence * sequenceStep;
  return tail >= 0 && tail < 10_000 ? s.head + TAILS[tail]! : newHead(s, sequenceStep);
}

/** Writes the texts of the positions that follow the mark into a part of a list, and moves the mark to the last one. */
export function writeNextTexts(
  s: DecimalCursor,
  sequenceStep: number,
  batch: string[],
  from: number,
  end: number,
): void {
  for (let index = from; index < end; index++) {
    pass(s, 1);
    batch[index] = decimalText(s, sequenceStep);
    let tail = s.tailBase + s.sequence * sequenceStep;
    const first = index;
    // All that share the head, without a look at anything else.
    const { head } = s;
    while ((tail += sequenceStep) < 10_000 && index + 1 < end) batch[++index] = head + TAILS[tail]!;
    pass(s, index - first);
  }
}

function pass(s: DecimalCursor, positions: number): void {
  s.sequence += positions;
  s.counter[0] = s.counter[0]! + s.counter[1]! * BigInt(positions);
}

function newHead(s: DecimalCursor, sequenceStep: number): string {
  const text = s.counter[0]!.toString();
  if (text.length > 4) {
    s.head = text.slice(0, -4);
    s.tailBase = Number(text.slice(-4)) - s.sequence * sequenceStep;
  }
  return text;
}
