import type {
  BoundIdCalls,
  IdCalls,
  IssuedByCode,
  IssuedByCodeOptions,
  RaindropError,
  WaitOptions,
} from '@raindrop/core';

/** The calls for IDs, passed on to a generator. */
export abstract class IssuingCalls implements IdCalls {
  constructor(protected readonly calls: IdCalls) {}

  nextId(code?: string): bigint {
    return this.calls.nextId(code);
  }

  /** The ID as decimal text: what belongs into JSON. */
  nextString(code?: string): string {
    return this.calls.nextString(code);
  }

  /** @throws UnsafeIntegerError above 2^53 - 1, before a position is consumed */
  nextNumber(code?: string): number {
    return this.calls.nextNumber(code);
  }

  /** `count` IDs, 1 to `maxBatch`; all or nothing, without waiting. */
  nextIds(count: number, code?: string): bigint[] {
    return this.calls.nextIds(count, code);
  }

  nextStrings(count: number, code?: string): string[] {
    return this.calls.nextStrings(count, code);
  }

  /** Fills an array of yours; all or nothing, without waiting. */
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

  /** The calls above for one code, without the look-up. */
  forCode(code: string): BoundIdCalls {
    return this.calls.forCode(code);
  }

  /** Why an ID would be refused at this moment; undefined when it would not be. Nothing is issued. @throws InvalidCodeError */
  refusal(code?: string): RaindropError | undefined {
    return this.calls.refusal(code);
  }

  /**
   * Begins to count the IDs of some codes apart, those issued so far included: for metrics of your own.
   * @throws ConfigurationError naming every option that is wrong
   */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.calls.issuedByCode(options);
  }
}
