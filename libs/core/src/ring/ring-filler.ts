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
import type { PutRejection, RingPorts } from './ring-options.js';

/** Whose IDs a ring holds: a generator, or a service. */
export type RingSource = Pick<IdCalls, 'fill' | 'refusal'> & { readonly layout: Layout };

/** So many are issued at once: some ten microseconds of work. */
const SLICE = 4_096;

/** Puts IDs into the ring, and takes those out that have become old. Of the producer's thread only. */
export class RingFiller {
  private slice = SLICE;
  private readonly halves: Uint32Array;
  private readonly freshness: Freshness;
  /** How many IDs of a tick may go into the ring. The others are for whoever asks the source itself. */
  private readonly perTick: number;
  private tick = Number.NaN;
  private usedOfTick = 0;

  /** @param setup `maxAgeMs`: from which age on IDs are replaced */
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

  /** How long until the ring may have more IDs, ms: its share of the tick is used; 0 when it may have some now. */
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

  /** Whether what would be taken next is to be replaced. */
  isAged(wallMs: number): boolean {
    return this.agedAtHead(wallMs).count > 0;
  }

  /** Takes a slice of old IDs out, if there is one: so many. */
  dropAged(wallMs: number): number {
    const { head, count } = this.agedAtHead(wallMs);
    // A thread that was faster has got them.
    return count > 0 && this.memory.moveHead(head, head + count) ? count : 0;
  }

  /**
   * Issues a slice into the free slots, or as much of it as can be issued now; to be called when there is no
   * {@link waitMs}.
   *
   * The slots from `tail` on are nobody's: what they held has been taken. They are published when all of them are written,
   * and only if the ring has not changed its state meanwhile: a refusal may have emptied it while they were issued.
   * @returns why not a single one could be issued
   */
  put(): RaindropError | undefined {
    const { memory } = this;
    const { stamp, tail, slots } = memory;
    const from = memory.indexOf(tail);
    const wanted = Math.min(this.setup.capacity - this.left, this.perTick - this.usedOfTick);
    let count = Math.min(wanted, this.slice, slots.length - from);
    while (count > 0) {
      const refusal = this.issue(slots.subarray(from, from + count));
      if (refusal === undefined) {
        this.usedOfTick += count;
        if (memory.stamp === stamp) memory.publish(tail + count);
        return undefined;
      }
      if (refusal instanceof InvalidBatchError) this.slice = count = Math.min(refusal.maxBatch, count - 1);
      else if (count === 1 || !isPassing(refusal)) return refusal;
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

  /** They lie in the order of their times, but for a clock that went back: the last of a slice stands for it. */
  private agedAtHead(wallMs: number): { readonly head: number; readonly count: number } {
    const { head, tail } = this.memory;
    const count = Math.min(tail - head, SLICE, this.perTick);
    if (count === 0) return { head, count };
    this.freshness.at(wallMs);
    const isFresh = this.freshness.covers(this.halves, this.memory.indexOf(head + count - 1));
    return { head, count: isFresh ? 0 : count };
  }
}

/** Over soon, and no reason to mistrust what was issued before. */
export function isPassing(refusal: RaindropError): boolean {
  const isSlow = refusal instanceof ReservationExhaustedError || refusal instanceof ClockMovedBackError;
  return isSlow || isBrief(refusal);
}

/** Over before anybody would have to be told. */
export function isBrief(refusal: RaindropError): boolean {
  return refusal instanceof SequenceExhaustedError || refusal instanceof IdsNotReadyError;
}

function refusalOf(error: unknown): RaindropError {
  return error instanceof RaindropError ? error : new RingFailedError('UNEXPECTED', showThrown(error), true);
}

/** What becomes of IDs that were issued for the ring and are not handed out from it. */
export class PutRejections {
  count = 0;

  /** @param handler in place of the log */
  constructor(
    private readonly warn: (message: string) => void,
    private readonly handler: ((rejection: PutRejection) => unknown) | undefined,
  ) {}

  /** What is old is replaced all the time, and what is left when it is closed is lost by intent: neither is logged. */
  tell(reason: PutRejection['reason'], count: number, why = ''): void {
    if (count === 0) return;
    this.count += count;
    try {
      if (this.handler === undefined) {
        if (reason === 'failed') this.warn(`The ring was emptied, ${count} IDs are discarded: ${why}`);
        return;
      }
      const told = this.handler({ reason, count });
      Promise.resolve(told).catch((error: unknown) => this.warn(`onPutRejected rejected: ${showThrown(error)}`));
    } catch (error) {
      this.warn(`onPutRejected threw: ${showThrown(error)}`);
    }
  }
}

/** One line in so long. */
const LOG_EVERY_MS = 1_000;

/** Writes what may happen at any pace to the log: once a second at most. */
export class ThrottledLog {
  private unlogged = 0;
  private loggedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly ports: Pick<RingPorts, 'monotonic' | 'warn'>) {}

  /** @param line the line for so many that it stands for, this one included */
  tell(line: (count: number) => string): void {
    this.unlogged++;
    const now = this.ports.monotonic.now();
    if (now - this.loggedAt < LOG_EVERY_MS) return;
    this.ports.warn(line(this.unlogged));
    this.loggedAt = now;
    this.unlogged = 0;
  }
}
