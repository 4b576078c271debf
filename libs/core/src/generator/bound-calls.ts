import type { BoundIdCalls } from './id-calls.js';
import type { Outputs } from './outputs.js';
import type { WaitOptions } from './waiting.js';

/**
 * The calls for one code, without the look-up. Kept as long as you like: when the code has made room for others in
 * between, it is looked up again.
 */
export class BoundCalls<Code> implements BoundIdCalls {
  /** @param current what the engine keeps of the code now */
  constructor(
    readonly code: string,
    private readonly outputs: Outputs<Code>,
    private readonly current: () => Code,
  ) {}

  nextId(): bigint {
    return this.outputs.id(this.current());
  }

  nextString(): string {
    return this.outputs.text(this.current());
  }

  nextNumber(): number {
    return this.outputs.number(this.current());
  }

  nextIds(count: number): bigint[] {
    return this.outputs.ids(this.current(), count);
  }

  nextStrings(count: number): string[] {
    return this.outputs.texts(this.current(), count);
  }

  fill(target: BigInt64Array): BigInt64Array {
    return this.outputs.fill(this.current(), target);
  }

  nextIdAsync(wait?: WaitOptions): Promise<bigint> {
    return this.outputs.idAsync(this.current, wait);
  }

  nextStringAsync(wait?: WaitOptions): Promise<string> {
    return this.outputs.textAsync(this.current, wait);
  }

  nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]> {
    return this.outputs.idsAsync(this.current, count, wait);
  }

  nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]> {
    return this.outputs.textsAsync(this.current, count, wait);
  }

  fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.outputs.fillAsync(this.current, target, wait);
  }
}
