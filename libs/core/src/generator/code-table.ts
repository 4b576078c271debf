import type { Codes } from './id-calls.js';
import {
  CodeCounts,
  type CountedCodes,
  type IssuedByCodeOptions,
  IssuedTotal,
  WeakListeners,
} from './issued-counts.js';
import { InvalidCodeError, isCode } from './generator-errors.js';
import { BEFORE_ALL, type Lane, maxPosition, type PerLane, type Position, type Tenure } from './tenure.js';
import type { Sequencer } from './tick-cursor.js';

/** The hand passes over so many at most: a table of a million codes in use must not stop the event loop. */
const MAX_CHANCES = 256;

/**
 * The sequencers of all codes, at most `maxCodes` of them.
 *
 * The one to go is found by second chance (the "clock" of operating systems): the oldest entry that was not used since
 * the hand last passed. It comes close to least recently used and costs a look-up one assignment, where exact order
 * costs a delete and an insert. What goes leaves its marks behind: their maximum, by lane, is the floor from which
 * every returning code starts, so eviction never repeats an ID.
 */
export class CodeTable implements Codes<Sequencer>, CountedCodes {
  private readonly total = new IssuedTotal();
  readonly plain = this.total.newSequencer();
  /** Are told which codes come and go. */
  readonly counts = new WeakListeners<CodeCounts>();
  private readonly byCode = new Map<string, Sequencer>();
  private evictedFloor: [Position, Position] = [BEFORE_ALL, BEFORE_ALL];
  private floorTenure = 0;

  constructor(private readonly maxCodes: number) {}

  /** @throws InvalidCodeError when the code is not a non-empty string of at most 128 characters */
  of(code?: string): Sequencer {
    return code === undefined ? this.plain : this.named(code);
  }

  /** The sequencer of a code that had this one before. */
  revalidate(code: string, found: Sequencer): Sequencer {
    if (found.evicted) return this.named(code);
    found.markUsed();
    return found;
  }

  /** From where a code starts that this tenure has not seen or no longer remembers. */
  floors(tenure: Tenure): PerLane<Position> {
    if (this.floorTenure !== tenure.number) return tenure.base;
    return [maxPosition(tenure.base[0], this.evictedFloor[0]), maxPosition(tenure.base[1], this.evictedFloor[1])];
  }

  /** The highest position that any code has reached on a lane in this tenure. */
  highest(tenure: Tenure, lane: Lane): Position {
    let highest = this.floors(tenure)[lane];
    const look = (each: Sequencer): void => {
      if (each.tenure === tenure.number && each.isPast(highest, lane)) highest = each.markOf(lane);
    };
    look(this.plain);
    this.byCode.forEach(look);
    return highest;
  }

  /** Begins to count. @throws ConfigurationError naming every option that is wrong */
  count(options?: IssuedByCodeOptions): CodeCounts {
    const counts = new CodeCounts(this, options);
    this.counts.add(counts);
    return counts;
  }

  names(): Iterable<string> {
    return this.byCode.keys();
  }

  /** 1 with fewer than 10,000 codes. Only among the others of a count something can be missing for a while. */
  get reads(): number {
    return this.total.reads;
  }

  get issued(): number {
    return this.total.read();
  }

  get plainIssued(): number {
    return this.total.count(this.plain);
  }

  /** To look at a code is no use of it. */
  issuedOf(code: string): number {
    const known = this.byCode.get(code);
    return known === undefined ? 0 : this.total.count(known);
  }

  get size(): number {
    return this.byCode.size;
  }

  private named(code: string): Sequencer {
    const known = this.byCode.get(code);
    if (known !== undefined) {
      known.markUsed();
      return known;
    }
    if (!isCode(code)) throw new InvalidCodeError(code);
    const evicted = this.byCode.size >= this.maxCodes ? this.evictOne() : undefined;
    const fresh = this.total.newSequencer(evicted);
    this.byCode.set(code, fresh);
    this.counts.forEach((each) => each.codeAdded(code));
    return fresh;
  }

  private evictOne(): Sequencer | undefined {
    let chances = MAX_CHANCES;
    for (const [code, each] of this.byCode) {
      this.byCode.delete(code);
      if (each.takeSecondChance() && chances-- > 0) {
        this.byCode.set(code, each);
        continue;
      }
      this.leaveFloor(each);
      this.counts.forEach((counts) => counts.codeEvicted(code, each.issued));
      return each;
    }
    return undefined;
  }

  private leaveFloor(gone: Sequencer): void {
    gone.evict();
    if (gone.tenure < this.floorTenure) return;
    if (gone.tenure > this.floorTenure) {
      this.floorTenure = gone.tenure;
      this.evictedFloor = [BEFORE_ALL, BEFORE_ALL];
    }
    this.evictedFloor = [
      maxPosition(this.evictedFloor[0], gone.markOf(0)),
      maxPosition(this.evictedFloor[1], gone.markOf(1)),
    ];
  }
}
