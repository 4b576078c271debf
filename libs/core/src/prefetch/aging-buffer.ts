import { type BatchRequest, textWriter } from '../generator/outputs.js';
import type { Batch, IdBuffer } from './prefetcher.js';

interface ReceivedBatch {
  readonly ids: readonly bigint[];
  /** From this moment on none of them may be handed out, monotonic ms. */
  readonly usableUntil: number;
  /** The same by the wall clock, ms: the monotonic one stands still while a host sleeps. */
  readonly wallUntil: number;
}

/** IDs at hand, handed out once each in the order in which they came, until they are too old. */
export class AgingBuffer implements IdBuffer {
  /** How many IDs are at hand. */
  left = 0;
  issued = 0;
  private readonly batches: ReceivedBatch[] = [];
  /** Index of the next ID in the first batch. */
  private index = 0;

  /** @param onBegin is called when a batch comes into use: no other is at hand, or the one before was used up */
  constructor(private readonly onBegin: () => void = () => {}) {}

  /** @param ids at least one; not to be changed afterwards */
  add(ids: readonly bigint[], usableUntil: number, wallUntil: number): void {
    this.batches.push({ ids, usableUntil, wallUntil });
    this.left += ids.length;
    if (this.batches.length === 1) this.onBegin();
  }

  next(): bigint {
    const id = this.peek();
    this.index++;
    this.left--;
    this.issued++;
    this.turn();
    return id;
  }

  nextNumber(): number | undefined {
    return this.peek() > Number.MAX_SAFE_INTEGER ? undefined : Number(this.next());
  }

  take(count: number): IdList {
    const taken: bigint[] = [];
    while (taken.length < count) {
      const { ids } = this.batches[0]!;
      const end = Math.min(ids.length, this.index + count - taken.length);
      while (this.index < end) taken.push(ids[this.index++]!);
      this.turn();
    }
    this.left -= count;
    this.issued += count;
    return new IdList(taken);
  }

  /** Drops the batches that have become too old by either clock. @returns how many IDs */
  dropOld(now: number, wallMs: number): number {
    const before = this.left;
    // One batch is asked for after the other: the first is the oldest.
    const isOld = (batch: ReceivedBatch): boolean => batch.usableUntil <= now || batch.wallUntil <= wallMs;
    for (let first = this.batches[0]; first !== undefined && isOld(first); first = this.batches[0]) {
      this.left -= first.ids.length - this.index;
      this.batches.shift();
      this.index = 0;
    }
    return before - this.left;
  }

  clear(): void {
    this.batches.length = 0;
    this.index = 0;
    this.left = 0;
  }

  turn(): void {
    if (this.index !== this.batches[0]?.ids.length) return;
    this.batches.shift();
    this.index = 0;
    if (this.batches.length > 0) this.onBegin();
  }

  /** The next ID, of which there must be one, without taking it. */
  private peek(): bigint {
    return this.batches[0]!.ids[this.index]!;
  }
}

/** How many texts are written before the event loop gets a turn; the other forms take no time. */
const SLICE = 2_048;

/** IDs that were taken together, as a list. */
class IdList implements Batch {
  constructor(private readonly ids: readonly bigint[]) {}

  write<Target>({ batch, writer }: BatchRequest<Target>, from: number, end: number): void {
    for (let index = from; index < end; index++) writer.writeOne(batch, index, this.ids[index]!);
  }

  sliceOf({ writer }: BatchRequest<unknown>): number {
    return writer === textWriter ? SLICE : this.ids.length;
  }
}
