import { BEFORE_ALL, comparePositions, type Lane, otherLane, type PerLane, type Position } from './tenure.js';

/**
 * The fast path: counts up the IDs of one tick, with two comparisons for each ID, inside one window (a stretch in which
 * neither tick nor tenure changed, known by its number).
 */
class TickCursor implements DecimalCursor {
  /** The sequence at which the cursor stands; -1 before the first one. */
  sequence = -1;
  readonly counter: BigInt64Array = new BigInt64Array(2);
  head = '';
  headFrom = 0;
  headTo = -1;
  headTail = 0;
  /** The ID of sequence 0 as a number; NaN where the tick's IDs may pass 2^53 - 1. */
  numberBase = Number.NaN;
  /** The ID of sequence 0. */
  private idBase = 0n;
  /** The window in which `last` holds; -1 for none. */
  private window = -1;
  /** The last sequence that the fast path may take. */
  private last = -1;

  /** Goes one sequence on, if the window is still this one and the fast path may take the sequence. */
  advance(window: number): boolean {
    if (this.window !== window || this.sequence >= this.last) return false;
    this.sequence++;
    this.counter[0] = this.counter[0]! + this.counter[1]!;
    return true;
  }

  /** How many times in a row {@link advance} would succeed in this window. */
  runLength(window: number): number {
    return this.window === window ? Math.max(0, this.last - this.sequence) : 0;
  }

  /** Lets {@link advance} go up to the sequence `last` in a window; -1 for no window. */
  allow(last: number, window: number): void {
    this.last = last;
    this.window = window;
  }

  /** The next {@link advance} fails. */
  stop(): void {
    this.window = -1;
  }

  /**
   * Goes to another tick.
   * @param base its ID of sequence 0
   * @param step between the IDs of neighbouring sequences
   * @param areSafe whether all its IDs are at most 2^53 - 1
   */
  beginTick(base: bigint, step: number, areSafe: boolean): void {
    this.idBase = base;
    this.numberBase = areSafe ? Number(base) : Number.NaN;
    this.headTo = -1;
    this.counter[1] = BigInt(step);
  }

  /** Sets the counter to the ID of `sequence`. */
  computeId(step: number): void {
    this.counter[0] = this.idBase + BigInt(this.sequence * step);
  }
}

/**
 * Where one code stands on its worker's two lanes.
 *
 * A lane is an odometer: its mark, the last position that is used up, only goes up. The current lane's mark is
 * (`tick`, `sequence`); the other lane's is `resting`. Other classes read the fields; only the methods here and the
 * batch writers move the mark.
 */
export class Sequencer extends TickCursor {
  lane: Lane = 0;
  tick = Number.NEGATIVE_INFINITY;
  /** The other lane's mark. */
  resting: Position = BEFORE_ALL;

  /** The highest tick of the wall clock at which the current lane was used. A clock below it went back. */
  wallTick = Number.NEGATIVE_INFINITY;
  /** When the hold of the lane began, monotonic ms; NaN while the lane is not held. */
  private heldSince = Number.NaN;
  /** The tick of the mark when the hold began. */
  heldTick = 0;

  /** The number of the tenure that the marks belong to. */
  tenure = 0;
  /** The tick that the last {@link beginTick} was for; NaN when its IDs hold no longer. */
  private knownTick = Number.NaN;

  /** The IDs issued so far are `countBase + sequence`: counting costs the fast path nothing. */
  private countBase = 1;
  /** How many of them {@link takeUncounted} has returned. */
  private counted = 0;
  /** True when the code was used again since it came, or since a search for room last passed it. */
  private used = false;
  /** True when the code was evicted: bound calls that still have this sequencer must look the code up again. */
  evicted = false;

  /** @param slot its index among the sequencers that are counted together; -1 when it is not counted */
  constructor(readonly slot = -1) {
    super();
  }

  get issued(): number {
    return this.countBase + this.sequence;
  }

  /** How many IDs were issued since the last call. */
  takeUncounted(): number {
    const fresh = this.issued - this.counted;
    this.counted += fresh;
    return fresh;
  }

  /** Moves the mark, which counts as one ID. */
  moveTo(tick: number, sequence: number): void {
    this.countBase += this.sequence + 1 - sequence;
    this.tick = tick;
    this.sequence = sequence;
  }

  /** True when the mark has left the tick that the last {@link beginTick} was for: another one is due. */
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

  /** The lane is used at this tick of the wall clock; a hold is over. */
  followClock(wallTick: number): void {
    this.wallTick = wallTick;
    this.heldSince = Number.NaN;
  }

  /**
   * The lane is ahead of a clock that went back, and waits for it.
   * @param now monotonic ms
   * @returns for how long it has waited already, ms
   */
  hold(now: number): number {
    if (Number.isNaN(this.heldSince)) {
      this.heldSince = now;
      this.heldTick = this.tick;
    }
    return now - this.heldSince;
  }

  /** Starts a tenure, with both marks at these bases. */
  beginTenure(tenure: number, lane: Lane, bases: PerLane<Position>, wallTick: number): void {
    this.tenure = tenure;
    this.lane = lane;
    this.putMark(bases[lane]);
    this.resting = bases[otherLane(lane)];
    this.followClock(Math.min(this.tick, wallTick));
    this.knownTick = Number.NaN;
  }

  /** Raises both marks to these bases where they are below them. */
  raise(bases: PerLane<Position>): void {
    const base = bases[this.lane];
    if (base.tick > this.tick || (base.tick === this.tick && base.sequence > this.sequence)) this.putMark(base);
    const resting = bases[otherLane(this.lane)];
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
   * Takes over the marks of another sequencer, to take a failed batch back. A hold that the batch began goes on: if
   * each failed batch ended it, the next one would begin another, and `maxHoldMs` would never be reached.
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

  /** Makes a sequencer that stands at the same place, to try a step on. */
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

  /** The eviction hand passes. @returns whether the code was used since the hand last passed */
  takeSecondChance(): boolean {
    const { used } = this;
    this.used = false;
    return used;
  }

  /** The code makes room for another one. */
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

/** A cursor over numbers in equal steps that remembers the digits which neighbours share. */
export interface DecimalCursor {
  sequence: number;
  /** The number at `sequence`, and the step. Additions between the elements of a BigInt64Array make no bigints. */
  readonly counter: BigInt64Array;
  /** All digits but the last four, of the numbers at `headFrom` to `headTo`. */
  head: string;
  headFrom: number;
  /** -1 while no head is known. */
  headTo: number;
  /** The last four digits of the number at `headFrom`. */
  headTail: number;
}

/** `0000` to `9999`. */
const TAILS: readonly string[] = Array.from({ length: 10_000 }, (_, tail) => String(tail).padStart(4, '0'));

/**
 * The number at the cursor as decimal text: a head that 10,000 neighbours share, and a tail from a table. It takes
 * about a quarter of the time of `BigInt.prototype.toString`.
 */
export function decimalText(cursor: DecimalCursor, step: number): string {
  const { sequence, headFrom } = cursor;
  // Compared by sequences: the tail of one far behind `headTo` could exceed V8's small integers, which are faster.
  if (sequence > cursor.headTo || sequence < headFrom) return newHead(cursor, step);
  return cursor.head + TAILS[cursor.headTail + (sequence - headFrom) * step]!;
}

/** Writes the texts of the numbers after the cursor into the places `from` to `end - 1`; the cursor moves with them. */
export function writeNextTexts(cursor: DecimalCursor, step: number, batch: string[], from: number, end: number): void {
  for (let index = from; index < end; index++) {
    moveBy(cursor, 1);
    batch[index] = decimalText(cursor, step);
    // Writes all texts that share the head in a loop that looks at nothing else.
    const { head } = cursor;
    const alike = Math.max(0, Math.min(cursor.headTo - cursor.sequence, end - index - 1));
    let tail = cursor.headTail + (cursor.sequence - cursor.headFrom) * step;
    for (const last = index + alike; index < last;) batch[++index] = head + TAILS[(tail += step)]!;
    moveBy(cursor, alike);
  }
}

function moveBy(cursor: DecimalCursor, steps: number): void {
  cursor.sequence += steps;
  cursor.counter[0] = cursor.counter[0]! + cursor.counter[1]! * BigInt(steps);
}

function newHead(cursor: DecimalCursor, step: number): string {
  const text = cursor.counter[0]!.toString();
  if (text.length > 4) {
    cursor.head = text.slice(0, -4);
    cursor.headFrom = cursor.sequence;
    cursor.headTail = Number(text.slice(-4));
    cursor.headTo = cursor.sequence + Math.floor((TAILS.length - 1 - cursor.headTail) / step);
  }
  return text;
}
