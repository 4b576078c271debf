import type { RaindropError } from '../raindrop-error.js';
import type { Freshness, RingMemory } from './ring-memory.js';
import { RingClosedError, RingEmptyError, RingProducerLostError } from './ring-errors.js';
import type { SharedIdRingHandle } from './ring-handle.js';
import type { RingPorts } from './ring-options.js';

/** Takes IDs out of the ring for one thread: claims a run of IDs at a time and hands them out one by one. */
export class RingCursor {
  /** IDs taken out of the ring. */
  claimed = 0;
  /** Claimed IDs that are not handed out: too old, or taken before the ring failed. */
  skipped = 0;

  /** The last run that was claimed. The IDs in `[next, end)` are not handed out yet. */
  protected readonly run: BigInt64Array;
  protected next = 0;
  protected end = 0;
  /** The last look at the clock found those in `[next, freshEnd)` fresh: they can be handed out as they are. */
  private freshEnd = 0;
  private readonly halves: Uint32Array;

  /** How many calls may follow one look at clock and deadline, and how many of them are left. */
  private readonly callsPerLook: number;
  private callsLeft = 0;
  /** The version of the ring's state at the last look. */
  stateVersion = -1;

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

  /** How many IDs are claimed and not yet handed out. */
  get held(): number {
    return this.end - this.next;
  }

  /** Why {@link take} must not be called; undefined when it may be called once. */
  refusal(): RaindropError | undefined {
    return this.isReady() ? undefined : this.slowPath();
  }

  /**
   * Drops the IDs of an unfinished batch that must not be handed out any more. To be called after {@link refusal}, which
   * looks at clock and state.
   */
  dropStale(batch: RingBatch): void {
    this.skipped += batch.dropStale(this.stateVersion, this.freshness);
  }

  take(): bigint {
    return this.run[this.next++]!;
  }

  /**
   * Takes an ID as {@link take} does, and those after it that can be handed out as they are.
   * @returns the index after the last one
   */
  takeInto(target: BigInt64Array, from: number): number {
    const count = Math.min(this.freshEnd - this.next, target.length - from);
    // Each counts as a call.
    this.callsLeft -= count - 1;
    for (let index = from; index < from + count; index++) target[index] = this.take();
    return from + count;
  }

  /** The fast path: the next ID of the run can be handed out as it is. */
  private isReady(): boolean {
    return --this.callsLeft >= 0 && this.next < this.freshEnd && this.memory.isStill(this.stateVersion);
  }

  /** Looks at clock, deadline and state where a look is due, skips old IDs, and claims the next run. */
  private slowPath(): RaindropError | undefined {
    if (this.callsLeft < 0 || this.memory.stateVersion !== this.stateVersion) {
      const refusal = this.checkProducer();
      if (refusal !== undefined) return refusal;
    }
    while (!this.findFresh()) if (!this.claim()) return new RingEmptyError(this.handle.capacity);
    return undefined;
  }

  /** Skips old IDs of the run, and finds how many fresh ones follow. @returns whether there is one */
  private findFresh(): boolean {
    const { freshness, halves, end } = this;
    for (; this.next < end && !freshness.covers(halves, this.next); this.next++) this.skipped++;
    // Until the next look at the clock an ID that is fresh now stays so.
    const last = Math.min(end, this.next + this.callsLeft + 1);
    this.freshEnd = this.next;
    while (this.freshEnd < last && freshness.covers(halves, this.freshEnd)) this.freshEnd++;
    return this.next < end;
  }

  private checkProducer(): RaindropError | undefined {
    const { memory } = this;
    const { stateVersion } = memory;
    this.callsLeft = 0;
    if (stateVersion !== this.stateVersion) {
      this.skipped += this.held;
      this.next = this.end;
      this.stateVersion = stateVersion;
    }
    const state = memory.stateOf(stateVersion);
    if (state === 'closed') return new RingClosedError();
    if (state === 'failed') return memory.failureOf(stateVersion) ?? this.checkProducer();
    const now = this.ports.clock.refresh();
    const lateByMs = memory.lateByMs(this.ports.monotonic.now(), now);
    if (lateByMs > 0) return new RingProducerLostError(lateByMs);
    this.freshness.at(now);
    this.callsLeft = this.callsPerLook;
    return undefined;
  }

  /**
   * Takes the next run out of the ring. The slots are copied BEFORE the head is moved. As long as the head stands, the
   * producer does not write into them; when another thread has moved it, the copy is thrown away. A slot that is read
   * after the move may hold a later ID already, which another thread takes as well.
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
    this.freshEnd = 0;
    this.end = count;
    this.claimed += count;
  }
}

/** This many IDs are kept or dropped together: a look at every ID of a large batch would block the thread. */
const CHUNK = 1_024;

interface Chunk {
  readonly ids: bigint[];
  /** The version of the ring's state when they were taken. */
  readonly stateVersion: number;
  /** The smallest and the largest ID, rounded to numbers. */
  least: number;
  most: number;
}

/** IDs that an async call has taken from a ring and not yet given to its caller. */
export class RingBatch {
  length = 0;
  private chunks: Chunk[] = [];

  /** @param stateVersion the version of the ring's state before the first of them was taken */
  add(ids: readonly bigint[], stateVersion: number): void {
    let chunk = this.chunks.at(-1);
    for (const id of ids) {
      if (chunk?.stateVersion !== stateVersion || chunk.ids.length === CHUNK) {
        chunk = { ids: [], stateVersion, least: Number.POSITIVE_INFINITY, most: Number.NEGATIVE_INFINITY };
        this.chunks.push(chunk);
      }
      chunk.ids.push(id);
      chunk.least = Math.min(chunk.least, Number(id));
      chunk.most = Math.max(chunk.most, Number(id));
    }
    this.length += ids.length;
  }

  /**
   * Drops the IDs that must not be handed out any more: those taken before the ring failed, and those that are too old.
   * @param stateVersion the present version of the ring's state
   * @returns how many IDs were dropped
   */
  dropStale(stateVersion: number, freshness: Freshness): number {
    const before = this.length;
    this.chunks = this.chunks.filter(
      (each) => each.stateVersion === stateVersion && freshness.coversRange(each.least, each.most),
    );
    this.length = this.chunks.reduce((sum, { ids }) => sum + ids.length, 0);
    return before - this.length;
  }

  toArray(): bigint[] {
    return ([] as bigint[]).concat(...this.chunks.map(({ ids }) => ids));
  }
}
