import {
  ClockMovedBackError,
  InvalidBatchError,
  ReservationExhaustedError,
  SequenceExhaustedError,
} from '../generator/generator-errors.js';
import type { IdCalls } from '../generator/id-calls.js';
import type { Layout } from '../layout/layout.js';
import { RaindropError } from '../raindrop-error.js';
import { IdsNotReadyError } from '../prefetch/prefetch-errors.js';
import { showThrown } from '../show-value.js';
import { Freshness, type RingMemory } from './ring-memory.js';
import { RingFailedError } from './ring-errors.js';

/** The source of a ring's IDs: a generator, or a service. */
export type RingSource = Pick<IdCalls, 'fill' | 'refusal'> & { readonly layout: Layout };

/** This many IDs are issued at once: some ten microseconds of work. */
const SLICE = 4_096;

/** Puts IDs into the ring, and takes old IDs out. For the producer's thread only. */
export class RingFiller {
  private slice = SLICE;
  private readonly halves: Uint32Array;
  private readonly freshness: Freshness;
  /** How many IDs of a tick may go into the ring. The others are for the source's other callers. */
  private readonly perTick: number;
  private tick = Number.NaN;
  private usedOfTick = 0;

  /** @param setup `maxAgeMs`: older IDs are replaced */
  constructor(
    private readonly memory: RingMemory,
    private readonly source: RingSource,
    private readonly setup: {
      readonly capacity: number;
      readonly maxAgeMs: number;
      readonly tickShare: number;
      readonly code: string | undefined;
    },
  ) {
    const { buffer, byteOffset, length } = memory.slots;
    this.perTick = Math.max(Math.floor(source.layout.idsPerTick * setup.tickShare), 1);
    this.halves = new Uint32Array(buffer, byteOffset, 2 * length);
    this.freshness = new Freshness(source.layout, setup.maxAgeMs);
  }

  get left(): number {
    return this.memory.tail - this.memory.head;
  }

  get isFull(): boolean {
    return this.left >= this.setup.capacity;
  }

  /** How long until the next tick, ms, when the ring's share of this tick is used; 0 when the ring may have IDs now. */
  waitMs(wallMs: number): number {
    const { timeline } = this.source.layout;
    const tick = timeline.tickAt(wallMs);
    if (tick !== this.tick) this.usedOfTick = 0;
    this.tick = tick;
    return this.usedOfTick < this.perTick ? 0 : timeline.startOf(tick + 1) - wallMs;
  }

  /** Why nothing may be issued now. */
  refusal(): RaindropError | undefined {
    try {
      return this.source.refusal(this.setup.code);
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Tells whether the next IDs are too old. */
  isAged(wallMs: number): boolean {
    return this.agedAtHead(wallMs).count > 0;
  }

  /** Takes a slice of old IDs out, if there is one. @returns how many IDs */
  dropAged(wallMs: number): number {
    const { head, count } = this.agedAtHead(wallMs);
    // When another thread has moved the head before, it has taken them.
    return count > 0 && this.memory.moveHead(head, head + count) ? count : 0;
  }

  /**
   * Issues a slice into the free slots, or as much of it as can be issued now; to be called when {@link waitMs} is 0.
   *
   * The slots from `tail` on are free: the IDs that they held have been taken. They are published when all of them are
   * written, and only if the ring's state is the same as before: a refusal may have emptied the ring in between.
   * @returns why not a single ID could be issued
   */
  put(): RaindropError | undefined {
    const { memory } = this;
    const { stateVersion, tail, slots } = memory;
    const from = memory.indexOf(tail);
    const wanted = Math.min(this.setup.capacity - this.left, this.perTick - this.usedOfTick);
    let count = Math.min(wanted, this.slice, slots.length - from);
    while (count > 0) {
      const refusal = this.issue(slots.subarray(from, from + count));
      if (refusal === undefined) {
        this.usedOfTick += count;
        if (memory.stateVersion === stateVersion) memory.publish(tail + count);
        return undefined;
      }
      if (refusal instanceof InvalidBatchError) this.slice = count = Math.min(refusal.maxBatch, count - 1);
      else if (count === 1 || !isTransient(refusal)) return refusal;
      else count >>= 1;
    }
    return undefined;
  }

  private issue(target: BigInt64Array): RaindropError | undefined {
    try {
      this.source.fill(target, this.setup.code);
      return undefined;
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** IDs are in the order of their times, unless the clock went back: the last ID of a slice decides for all of it. */
  private agedAtHead(wallMs: number): { readonly head: number; readonly count: number } {
    const { head, tail } = this.memory;
    const count = Math.min(tail - head, SLICE, this.perTick);
    if (count === 0) return { head, count };
    this.freshness.at(wallMs);
    const isFresh = this.freshness.covers(this.halves, this.memory.indexOf(head + count - 1));
    return { head, count: isFresh ? 0 : count };
  }
}

/** Tells whether a refusal is over soon, and the IDs that were issued before it stay good. */
export function isTransient(refusal: RaindropError): boolean {
  const isSlow = refusal instanceof ReservationExhaustedError || refusal instanceof ClockMovedBackError;
  return isSlow || isBrief(refusal);
}

/** Tells whether a refusal is over within a tick or a fetch: takers of an empty ring wait without hearing of it. */
export function isBrief(refusal: RaindropError): boolean {
  return refusal instanceof SequenceExhaustedError || refusal instanceof IdsNotReadyError;
}

function refusalOf(error: unknown): RaindropError {
  return error instanceof RaindropError ? error : new RingFailedError('UNEXPECTED', showThrown(error), true);
}
