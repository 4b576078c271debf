import type { Stock, TakenIds } from '../supply/supply.js';
import { type BatchRequest, textWriter } from '../generator/outputs.js';

interface Batch {
  readonly ids: readonly bigint[];
  /** From this moment on none of them may be handed out, monotonic ms. */
  readonly usableUntil: number;
  /** The same by the wall clock, ms: the monotonic one stands still while a host sleeps. */
  readonly wallUntil: number;
}

/** IDs at hand, handed out once each in the order in which they came. */
export class IdQueue implements Stock {
  /** How many IDs are at hand. */
  left = 0;
  /** How many were handed out. */
  issued = 0;
  private readonly batches: Batch[] = [];
  /** Index of the next ID in the first batch. */
  private index = 0;

  /** @param onBegin called whenever a batch comes into use because the one before was used up */
  constructor(private readonly onBegin: () => void = () => {}) {}

  /** @param ids at least one; not to be changed afterwards */
  add(ids: readonly bigint[], usableUntil: number, wallUntil: number): void {
    this.batches.push({ ids, usableUntil, wallUntil });
    this.left += ids.length;
    if (this.batches.length === 1) this.onBegin();
  }

  /** The next ID, of which there must be one, without taking it. */
  peek(): bigint {
    return this.batches[0]!.ids[this.index]!;
  }

  /** Takes the next ID, of which there must be one. */
  next(): bigint {
    const { ids } = this.batches[0]!;
    const id = ids[this.index++]!;
    this.left--;
    this.issued++;
    if (this.index === ids.length) this.turn();
    return id;
  }

  /** Takes as many, which must be at hand. */
  take(count: number): TakenList {
    const taken: bigint[] = [];
    while (taken.length < count) {
      const { ids } = this.batches[0]!;
      const end = Math.min(ids.length, this.index + count - taken.length);
      while (this.index < end) taken.push(ids[this.index++]!);
      if (this.index === ids.length) this.turn();
    }
    this.left -= count;
    this.issued += count;
    return new TakenList(taken);
  }

  /** Drops what has become too old by either clock. @returns how many IDs */
  dropOld(now: number, wallMs: number): number {
    const before = this.left;
    // Batches are asked for one after the other: the first is the oldest.
    const isOld = (batch: Batch): boolean => batch.usableUntil <= now || batch.wallUntil <= wallMs;
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

  private turn(): void {
    this.batches.shift();
    this.index = 0;
    if (this.batches.length > 0) this.onBegin();
  }
}

/** After so many texts others get a turn of the event loop; nothing else takes long. */
const SLICE = 2_048;

/** IDs that were taken together, as a list. */
class TakenList implements TakenIds {
  constructor(private readonly ids: readonly bigint[]) {}

  write<Batch>({ batch, writer }: BatchRequest<Batch>, from: number, end: number): void {
    for (let index = from; index < end; index++) writer.writeOne(batch, index, this.ids[index]!);
  }

  turnAfter({ writer }: BatchRequest<unknown>): number {
    return writer === textWriter ? SLICE : this.ids.length;
  }
}
