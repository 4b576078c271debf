import type { BoundIdCalls, IdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';

/** The calls for every code, each handed on to the calls for that one code. */
export abstract class CallsByCode implements Omit<IdCalls, 'forCode' | 'refusal' | 'issuedByCode'> {
  nextId(code?: string): bigint {
    return this.of(code).nextId();
  }

  /** As decimal text. */
  nextString(code?: string): string {
    return this.of(code).nextString();
  }

  /** @throws UnsafeIntegerError above 2^53 - 1, before anything is consumed */
  nextNumber(code?: string): number {
    return this.of(code).nextNumber();
  }

  /**
   * `count` of them, all or nothing: a batch that is larger than what is at hand throws, and makes the next fetches larger.
   * @throws InvalidBatchError when `count` is not an integer from 1 to `maxBatch`
   */
  nextIds(count: number, code?: string): bigint[] {
    return this.of(code).nextIds(count);
  }

  /** As {@link nextIds}, as decimal text. */
  nextStrings(count: number, code?: string): string[] {
    return this.of(code).nextStrings(count);
  }

  /** As {@link nextIds}, into an array of yours; it is zeroed when the batch does not fit. */
  fill(target: BigInt64Array, code?: string): BigInt64Array {
    return this.of(code).fill(target);
  }

  /**
   * As {@link nextId}, but waits until there is one; first come, first served.
   * @throws WaitTimeoutError after `timeoutMs`, with what it waited for as its cause; the signal's reason when aborted
   */
  async nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.of(code).nextIdAsync(wait);
  }

  /** As {@link nextIdAsync}, as decimal text. */
  async nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return this.of(code).nextStringAsync(wait);
  }

  /** As {@link nextIds}, but waits for all of them to be at hand. When it gives up, none was taken. */
  async nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.of(code).nextIdsAsync(count, wait);
  }

  /** As {@link nextIdsAsync}, as decimal text. */
  async nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.of(code).nextStringsAsync(count, wait);
  }

  /** As {@link nextIdsAsync}, into an array of yours; it is zeroed when none come. */
  async fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.of(code).fillAsync(target, wait);
  }

  /** The calls for one code; without one, those for what stands in for it. @throws what makes a code unusable */
  protected abstract of(code: string | undefined): BoundIdCalls;
}
