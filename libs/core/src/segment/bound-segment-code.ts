import type { BoundIdCalls } from '../generator/id-calls.js';
import type { WaitOptions } from '../generator/waiting.js';
import type { SegmentAllocator } from './segment-allocator.js';

/**
 * The calls of one code, without the look-up. Kept as long as you like: when the code, of which there was no row, has
 * made room for others in between, the next call looks it up again.
 */
export class BoundSegmentCode implements BoundIdCalls {
  private allocator: SegmentAllocator;

  constructor(
    readonly code: string,
    private readonly find: (code: string) => SegmentAllocator,
  ) {
    this.allocator = find(code);
  }

  nextId(): bigint {
    return this.current().nextId();
  }

  nextString(): string {
    return this.current().nextString();
  }

  nextNumber(): number {
    return this.current().nextNumber();
  }

  nextIds(count: number): bigint[] {
    return this.current().nextIds(count);
  }

  nextStrings(count: number): string[] {
    return this.current().nextStrings(count);
  }

  fill(target: BigInt64Array): BigInt64Array {
    return this.current().fill(target);
  }

  async nextIdAsync(wait?: WaitOptions): Promise<bigint> {
    return this.current().nextIdAsync(wait);
  }

  async nextStringAsync(wait?: WaitOptions): Promise<string> {
    return this.current().nextStringAsync(wait);
  }

  async nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]> {
    return this.current().nextIdsAsync(count, wait);
  }

  async nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]> {
    return this.current().nextStringsAsync(count, wait);
  }

  async fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.current().fillAsync(target, wait);
  }

  private current(): SegmentAllocator {
    if (this.allocator.isDropped) this.allocator = this.find(this.code);
    return this.allocator;
  }
}
