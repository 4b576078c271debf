import { InvalidBatchError, UnsafeIntegerError } from '../generator/generator-errors.js';
import type { BoundIdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';
import { IdSupply } from './id-supply.js';
import type { PrefetchContext } from './prefetch-context.js';

/** After so many texts a batch that waits lets others have a turn of the event loop (well under a millisecond). */
const SLICE = 2_048;

/** The calls for IDs of one code, or for those without one. */
export class PrefetchedCode implements BoundIdCalls {
  readonly code: string;
  readonly supply: IdSupply;
  /** Somebody keeps it, and calls it without asking for it. */
  isBound = false;

  constructor(
    code: string | undefined,
    private readonly ctx: PrefetchContext,
  ) {
    this.code = code ?? '';
    this.supply = new IdSupply(code, ctx);
  }

  nextId(): bigint {
    this.supply.need(1);
    return this.supply.queue.take();
  }

  nextString(): string {
    return this.nextId().toString();
  }

  nextNumber(): number {
    this.supply.need(1);
    const { queue } = this.supply;
    if (queue.peek() > Number.MAX_SAFE_INTEGER)
      throw new UnsafeIntegerError(null, `The IDs of ${this.ctx.source.name}`);
    return Number(queue.take());
  }

  nextIds(count: number): bigint[] {
    this.supply.need(this.checked(count));
    return this.supply.queue.takeMany(count);
  }

  nextStrings(count: number): string[] {
    return this.nextIds(count).map(String);
  }

  fill(target: BigInt64Array): BigInt64Array {
    const count = this.sizeOf(target);
    if (count === 0) return target;
    try {
      target.set(this.nextIds(count));
    } catch (error) {
      target.fill(0n);
      throw error;
    }
    return target;
  }

  nextIdAsync(wait?: WaitOptions): Promise<bigint> {
    return this.supply.soon({ count: 1, take: () => this.supply.queue.take() }, wait);
  }

  async nextStringAsync(wait?: WaitOptions): Promise<string> {
    return (await this.nextIdAsync(wait)).toString();
  }

  async nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]> {
    this.checked(count);
    return this.supply.soon({ count, take: () => this.supply.queue.takeMany(count) }, wait);
  }

  async nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]> {
    const ids = await this.nextIdsAsync(count, wait);
    const { tally } = this.ctx;
    const { restores } = tally;
    const texts: string[] = [];
    for (let from = 0; from < count; from += SLICE) {
      if (from > 0) await this.breathe();
      for (const id of ids.slice(from, from + SLICE)) texts.push(id.toString());
    }
    // Copied in the middle of it: another process gives these.
    return tally.restores === restores ? texts : this.nextStringsAsync(count, wait);
  }

  async fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    const count = this.sizeOf(target);
    if (count === 0) return target;
    try {
      target.set(await this.nextIdsAsync(count, wait));
    } catch (error) {
      // What an earlier call left in it may not pass for new IDs.
      target.fill(0n);
      throw error;
    }
    return target;
  }

  private breathe(): Promise<void> {
    return new Promise((resolve) => void this.ctx.ports.timers.setTimer(resolve, 0, 'foreground'));
  }

  private checked(count: number): number {
    const { maxBatch } = this.ctx.options;
    if (!Number.isInteger(count) || count < 1 || count > maxBatch) throw new InvalidBatchError(count, maxBatch);
    return count;
  }

  /** By its tag, which arrays of another realm have as well. */
  private sizeOf(target: BigInt64Array): number {
    if (target?.[Symbol.toStringTag] !== 'BigInt64Array')
      throw new InvalidBatchError(target, this.ctx.options.maxBatch);
    return target.length === 0 ? 0 : this.checked(target.length);
  }
}
