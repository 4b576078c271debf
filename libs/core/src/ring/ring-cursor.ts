import type { RaindropError } from '../raindrop-error.js';
import type { Freshness, RingMemory } from './ring-memory.js';
import { RingClosedError, RingEmptyError, RingProducerLostError } from './ring-errors.js';
import type { SharedIdRingHandle } from './ring-handle.js';
import type { RingPorts } from './ring-options.js';

/** One thread's place at the ring: claims a run of IDs at a time and hands them out one by one. */
export class RingCursor {
  /** IDs taken out of the ring. */
  claimed = 0;
  /** Of these, not to be handed out: too old, or of a ring that has failed since. */
  skipped = 0;

  /** What was claimed and not yet handed out: those from `next` to `end`. */
  protected readonly run: BigInt64Array;
  protected next = 0;
  protected end = 0;
  private readonly halves: Uint32Array;

  /** How many calls may do with one look at clock and deadline, and how many of them are left. */
  private readonly callsPerLook: number;
  private callsLeft = 0;
  /** Of the state at the last look. */
  stamp = -1;

  constructor(
    protected readonly memory: RingMemory,
    private readonly handle: SharedIdRingHandle,
    private readonly freshness: Freshness,
    private readonly ports: Pick<RingPorts, 'clock' | 'monotonic'>,
  ) {
    this.run = new BigInt64Array(handle.run);
    this.halves = new Uint32Array(this.run.buffer);
    this.callsPerLook = ports.clock.share?.(() => (this.callsLeft = 0)) ?? 0;
  }

  /** How many are claimed and not yet handed out. */
  get held(): number {
    return this.end - this.next;
  }

  /** Why {@link take} must not be called; undefined when it may be called once. */
  refusal(): RaindropError | undefined {
    return this.isReady() ? undefined : this.prepare();
  }

  /**
   * Takes out of a batch that is being gathered what must not be handed out any more. To be called after {@link refusal},
   * which looks.
   */
  sift(batch: RingBatch): void {
    this.skipped += batch.sift(this.stamp, this.freshness);
  }

  take(): bigint {
    return this.run[this.next++]!;
  }

  /** The fast path: the next of the run can be handed out as it is. */
  private isReady(): boolean {
    return (
      --this.callsLeft >= 0 &&
      this.next < this.end &&
      this.memory.stamp === this.stamp &&
      this.freshness.covers(this.halves, this.next)
    );
  }

  /** The long way: looks at clock, deadline and state where it is time to, and claims the next run. */
  private prepare(): RaindropError | undefined {
    if (this.callsLeft < 0 || this.memory.stamp !== this.stamp) {
      const refusal = this.look();
      if (refusal !== undefined) return refusal;
    }
    for (;;) {
      for (; this.next < this.end; this.next++) {
        if (this.freshness.covers(this.halves, this.next)) return undefined;
        this.skipped++;
      }
      if (!this.claim()) return new RingEmptyError(this.handle.capacity);
    }
  }

  private look(): RaindropError | undefined {
    const { memory } = this;
    const { stamp } = memory;
    this.callsLeft = 0;
    if (stamp !== this.stamp) {
      this.skipped += this.held;
      this.next = this.end;
      this.stamp = stamp;
    }
    const state = memory.stateOf(stamp);
    if (state === 'closed') return new RingClosedError();
    if (state === 'failed') return memory.failureOf(stamp) ?? this.look();
    const now = this.ports.clock.refresh();
    const lateByMs = memory.lateByMs(this.ports.monotonic.now(), now);
    if (lateByMs > 0) return new RingProducerLostError(lateByMs);
    this.freshness.at(now);
    this.callsLeft = this.callsPerLook;
    return undefined;
  }

  /**
   * Takes the next run out of the ring. The slots are copied BEFORE the head is moved: as long as it stands, the producer
   * leaves them alone, and when it has moved meanwhile, what was copied is thrown away. Read after that, a slot may hold a
   * later ID already, which somebody else gets as well.
   * @returns false when the ring is empty
   */
  protected claim(): boolean {
    const { memory } = this;
    for (;;) {
      const { head } = memory;
      const left = memory.tail - head;
      const count = Math.min(left, this.run.length);
      if (left - count < this.handle.lowWater) memory.demand();
      if (count === 0) return false;
      this.copy(head, count);
      if (!memory.moveHead(head, head + count)) continue;
      this.hold(count);
      return true;
    }
  }

  protected copy(head: number, count: number): void {
    const { run } = this;
    const { slots } = this.memory;
    const from = this.memory.indexOf(head);
    const last = slots.length - 1;
    for (let index = 0; index < count; index++) run[index] = slots[(from + index) & last]!;
  }

  protected hold(count: number): void {
    this.next = 0;
    this.end = count;
    this.claimed += count;
  }
}

/** So many are kept or dropped together: a look at each one of a large batch would block the thread. */
const CHUNK = 1_024;

interface Chunk {
  readonly ids: bigint[];
  /** Of the ring when they were taken. */
  readonly stamp: number;
  /** The smallest and the largest of them, rounded. */
  least: number;
  most: number;
}

/** IDs that an async call has taken from a ring and not yet given to its caller. */
export class RingBatch {
  length = 0;
  private chunks: Chunk[] = [];

  /** @param stamp of the ring before the first of them was taken */
  add(ids: readonly bigint[], stamp: number): void {
    let chunk = this.chunks.at(-1);
    for (const id of ids) {
      if (chunk?.stamp !== stamp || chunk.ids.length === CHUNK) {
        chunk = { ids: [], stamp, least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
        this.chunks.push(chunk);
      }
      chunk.ids.push(id);
      chunk.least = Math.min(chunk.least, Number(id));
      chunk.most = Math.max(chunk.most, Number(id));
    }
    this.length += ids.length;
  }

  /**
   * Drops what must not be handed out any more: all of a ring that has failed since, and what has become old.
   * @param stamp of the ring now
   * @returns how many IDs
   */
  sift(stamp: number, freshness: Freshness): number {
    const before = this.length;
    this.chunks = this.chunks.filter((each) => each.stamp === stamp && freshness.coversRange(each.least, each.most));
    this.length = this.chunks.reduce((sum, { ids }) => sum + ids.length, 0);
    return before - this.length;
  }

  toArray(): bigint[] {
    return ([] as bigint[]).concat(...this.chunks.map(({ ids }) => ids));
  }
}
