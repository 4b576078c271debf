import type { RaindropError } from '../raindrop-error.js';
import type { IssuedByCode, IssuedByCodeOptions } from './issued-by-code.js';
import type { WaitOptions } from './waiting.js';

/**
 * The calls for IDs of one code.
 *
 * Those without `Async` answer at once or throw; a batch is all or nothing. The others wait where waiting helps, at most
 * `timeoutMs`, and reject with `WaitTimeoutError` or the signal's reason.
 */
export interface BoundIdCalls {
  readonly code: string;
  nextId(): bigint;
  nextString(): string;
  nextNumber(): number;
  nextIds(count: number): bigint[];
  nextStrings(count: number): string[];
  fill(target: BigInt64Array): BigInt64Array;
  nextIdAsync(wait?: WaitOptions): Promise<bigint>;
  nextStringAsync(wait?: WaitOptions): Promise<string>;
  nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]>;
  nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]>;
  fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array>;
}

/** The same for every code, by default for IDs without one. */
export interface IdCalls {
  nextId(code?: string): bigint;
  nextString(code?: string): string;
  nextNumber(code?: string): number;
  nextIds(count: number, code?: string): bigint[];
  nextStrings(count: number, code?: string): string[];
  fill(target: BigInt64Array, code?: string): BigInt64Array;
  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint>;
  nextStringAsync(code?: string, wait?: WaitOptions): Promise<string>;
  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]>;
  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]>;
  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array>;
  forCode(code: string): BoundIdCalls;
  /** Why an ID would be refused at this moment; undefined when it would not be. Nothing is issued. */
  refusal(code?: string): RaindropError | undefined;
  /** Begins to count the IDs of some codes apart, those issued so far included. */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode;
}
