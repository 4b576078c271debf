import { BoundCalls } from './bound-calls.js';
import { InvalidCodeError } from './generator-errors.js';
import type { BoundIdCalls, IdCalls } from './id-calls.js';
import type { Outputs } from './outputs.js';
import type { WaitOptions } from './waiting.js';

/** Where an engine keeps what it has of each code. */
export interface Codes<Code> {
  /** What it has of a code; without one, of the IDs that have none. @throws RaindropError that tells why it cannot be used */
  of(code?: string): Code;
  /** What it has now of a code that was found before: looked up only when that is gone. */
  again(code: string, found: Code): Code;
}

/** The calls for IDs of every code: each looks the code up, and asks the engine's outputs. */
export abstract class CallsByCode<Code, Kept extends Codes<Code> = Codes<Code>> implements Omit<
  IdCalls,
  'refusal' | 'issuedByCode'
> {
  constructor(
    protected readonly codes: Kept,
    private readonly outputs: Outputs<Code>,
  ) {}

  nextId(code?: string): bigint {
    return this.outputs.id(this.codes.of(code));
  }

  nextString(code?: string): string {
    return this.outputs.text(this.codes.of(code));
  }

  nextNumber(code?: string): number {
    return this.outputs.number(this.codes.of(code));
  }

  nextIds(count: number, code?: string): bigint[] {
    return this.outputs.ids(this.codes.of(code), count);
  }

  nextStrings(count: number, code?: string): string[] {
    return this.outputs.texts(this.codes.of(code), count);
  }

  fill(target: BigInt64Array, code?: string): BigInt64Array {
    return this.outputs.fill(this.codes.of(code), target);
  }

  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.outputs.idAsync(() => this.codes.of(code), wait);
  }

  nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return this.outputs.textAsync(() => this.codes.of(code), wait);
  }

  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.outputs.idsAsync(() => this.codes.of(code), count, wait);
  }

  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.outputs.textsAsync(() => this.codes.of(code), count, wait);
  }

  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.outputs.fillAsync(() => this.codes.of(code), target, wait);
  }

  forCode(code: string): BoundIdCalls {
    const { codes } = this;
    if (code === undefined) throw new InvalidCodeError(code);
    let found = codes.of(code);
    return new BoundCalls(code, this.outputs, () => (found = codes.again(code, found)));
  }
}
