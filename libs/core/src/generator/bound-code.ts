import type { BoundIdCalls } from './id-calls.js';
import type { Outputs } from './outputs.js';
import type { Sequencer } from './sequencer.js';
import type { WaitOptions } from './waiting.js';

/**
 * The generator's calls for one code, without the look-up. Kept as long as you like: when the code was evicted in
 * between, the handle goes on from the eviction floor like everybody else.
 */
export class BoundCode implements BoundIdCalls {
  private sequencer: Sequencer;
  private readonly current = (): Sequencer => {
    if (this.sequencer.evicted) this.sequencer = this.find(this.code);
    else this.sequencer.used = true;
    return this.sequencer;
  };

  constructor(
    readonly code: string,
    private readonly find: (code: string) => Sequencer,
    private readonly outputs: Outputs,
  ) {
    this.sequencer = find(code);
  }

  nextId(): bigint {
    return this.outputs.id(this.current());
  }

  nextString(): string {
    return this.outputs.string(this.current());
  }

  nextNumber(): number {
    return this.outputs.number(this.current());
  }

  nextIds(count: number): bigint[] {
    return this.outputs.ids(this.current(), count);
  }

  nextStrings(count: number): string[] {
    return this.outputs.strings(this.current(), count);
  }

  fill(target: BigInt64Array): BigInt64Array {
    return this.outputs.fill(this.current(), target);
  }

  nextIdAsync(wait?: WaitOptions): Promise<bigint> {
    return this.outputs.idAsync(this.current, wait);
  }

  async nextStringAsync(wait?: WaitOptions): Promise<string> {
    return (await this.nextIdAsync(wait)).toString();
  }

  nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]> {
    return this.outputs.idsAsync(this.current, count, wait);
  }

  nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]> {
    return this.outputs.stringsAsync(this.current, count, wait);
  }

  fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.outputs.fillAsync(this.current, target, wait);
  }
}
