import type {
  BoundIdCalls,
  IdCalls,
  IssuedByCode,
  IssuedByCodeOptions,
  RaindropError,
  WaitOptions,
} from '@raindrop/core';

/** Passes the calls for IDs on to a generator; each does what {@link IdCalls} says. */
export abstract class IssuingCalls implements IdCalls {
  constructor(protected readonly calls: IdCalls) {}

  nextId(code?: string): bigint {
    return this.calls.nextId(code);
  }

  nextString(code?: string): string {
    return this.calls.nextString(code);
  }

  nextNumber(code?: string): number {
    return this.calls.nextNumber(code);
  }

  nextIds(count: number, code?: string): bigint[] {
    return this.calls.nextIds(count, code);
  }

  nextStrings(count: number, code?: string): string[] {
    return this.calls.nextStrings(count, code);
  }

  fill(target: BigInt64Array, code?: string): BigInt64Array {
    return this.calls.fill(target, code);
  }

  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.calls.nextIdAsync(code, wait);
  }

  nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return this.calls.nextStringAsync(code, wait);
  }

  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.calls.nextIdsAsync(count, code, wait);
  }

  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.calls.nextStringsAsync(count, code, wait);
  }

  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.calls.fillAsync(target, code, wait);
  }

  forCode(code: string): BoundIdCalls {
    return this.calls.forCode(code);
  }

  refusal(code?: string): RaindropError | undefined {
    return this.calls.refusal(code);
  }

  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.calls.issuedByCode(options);
  }
}
