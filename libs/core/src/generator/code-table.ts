import type { Codes } from './id-calls.js';
import { InvalidCodeError, isCode } from './generator-errors.js';
import { CodeCounts, type CountedCodes, type IssuedByCodeOptions, WeakListeners } from './issued-counts.js';
import { BEFORE_ALL, type Lane, maxPosition, type PerLane, type Position, type Tenure } from './tenure.js';
import { Sequencer } from './tick-cursor.js';

/**
 * An eviction gives at most this many second chances: a table of a million codes in use must not stop the event loop.
 */
const MAX_CHANCES = 256;

/**
 * The sequencers of all codes, at most `maxCodes` of them.
 *
 * The code to evict is found by second chance (the "clock" of operating systems): the oldest entry that was not used
 * since a search for room last passed it and put it at the end. The result comes close to least recently used, and a look-up costs one assignment,
 * where exact order costs a delete and an insert. An evicted code leaves its marks behind: above their
 * maximum, by lane, every code starts that comes later, so eviction never repeats an ID.
 */
export class CodeTable implements Codes<Sequencer>, CountedCodes {
  private readonly total = new IssuedTotal();
  /** The sequencer of IDs without a code. */
  readonly plain = this.total.newSequencer();
  /** They are told of every code that comes and of every code that is evicted. */
  readonly counts = new WeakListeners<CodeCounts>();
  private readonly byCode = new Map<string, Sequencer>();
  private evictedMarks: [Position, Position] = [BEFORE_ALL, BEFORE_ALL];
  private evictedTenure = 0;

  constructor(private readonly maxCodes: number) {}

  /** @throws InvalidCodeError when the code is not a non-empty string of at most 128 characters */
  of(code?: string): Sequencer {
    return code === undefined ? this.plain : this.named(code);
  }

  revalidate(code: string, found: Sequencer): Sequencer {
    if (found.evicted) return this.named(code);
    found.markUsed();
    return found;
  }

  /** A code that is new in this tenure, or was evicted in it, starts above these positions. */
  bases(tenure: Tenure): PerLane<Position> {
    if (this.evictedTenure !== tenure.number) return tenure.base;
    return [maxPosition(tenure.base[0], this.evictedMarks[0]), maxPosition(tenure.base[1], this.evictedMarks[1])];
  }

  /** The highest position that any code has reached on a lane in this tenure. */
  highest(tenure: Tenure, lane: Lane): Position {
    let highest = this.bases(tenure)[lane];
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

  /** 1 with fewer than 10,000 codes. With more, a read may leave out IDs of codes that are not counted apart. */
  get reads(): number {
    return this.total.reads;
  }

  get issued(): number {
    return this.total.read();
  }

  get plainIssued(): number {
    return this.total.count(this.plain);
  }

  /** Does not mark the code as used. */
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
      this.keepMarks(each);
      this.counts.forEach((counts) => counts.codeEvicted(code, each.issued));
      return each;
    }
    return undefined;
  }

  private keepMarks(gone: Sequencer): void {
    gone.evict();
    if (gone.tenure < this.evictedTenure) return;
    if (gone.tenure > this.evictedTenure) {
      this.evictedTenure = gone.tenure;
      this.evictedMarks = [BEFORE_ALL, BEFORE_ALL];
    }
    this.evictedMarks = [
      maxPosition(this.evictedMarks[0], gone.markOf(0)),
      maxPosition(this.evictedMarks[1], gone.markOf(1)),
    ];
  }
}

/** One read looks at this many sequencers at most: about 0.1 ms, where a million would take 30 ms. */
const MAX_LOOKS = 10_000;

/**
 * The number of IDs issued by all sequencers of a table. Issuing costs nothing more for it: each sequencer counts its
 * own IDs, and a read adds those that it has issued since the read that looked at it last.
 *
 * With 10,000 codes or more a read looks at the next 10,000 sequencers, and may leave out what the others have issued
 * since their last turn. After {@link reads} of them in a row, the last one includes every ID issued before the first.
 * No read counts an ID twice or goes back, whichever codes come and go.
 */
class IssuedTotal {
  private readonly sequencers: Sequencer[] = [];
  private issued = 0;
  private next = 0;

  /** How many reads it takes to look at every sequencer once. */
  get reads(): number {
    return Math.ceil(this.sequencers.length / MAX_LOOKS);
  }

  /** Makes a sequencer, in the slot of an evicted one if there is one. */
  newSequencer(evicted?: Sequencer): Sequencer {
    if (evicted !== undefined) this.count(evicted);
    const fresh = new Sequencer(evicted?.slot ?? this.sequencers.length);
    this.sequencers[fresh.slot] = fresh;
    return fresh;
  }

  /** Adds the IDs that a sequencer has issued since it was last counted. @returns all that it has issued */
  count(s: Sequencer): number {
    this.issued += s.takeUncounted();
    return s.issued;
  }

  read(): number {
    for (let looks = Math.min(this.sequencers.length, MAX_LOOKS); looks > 0; looks--) {
      if (this.next >= this.sequencers.length) this.next = 0;
      this.count(this.sequencers[this.next++]!);
    }
    return this.issued;
  }
}
