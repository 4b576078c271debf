import type { RaindropError } from '../raindrop-error.js';
import type { IssuedByCode, IssuedByCodeOptions } from './issued-counts.js';
import type { WaitOptions } from './waiting.js';
import { InvalidCodeError } from './generator-errors.js';
import type { Outputs } from './outputs.js';

/**
 * The calls for IDs of one code, which is looked up once; each is that of {@link IdCalls}.
 *
 * Those without `Async` answer at once or throw; a batch is all or nothing. The others wait where waiting helps, at most
 * `timeoutMs`, and reject with `WaitTimeoutError` or the signal's reason.
 */
export interface BoundIdCalls {
  /** Whose IDs these are. */
  readonly code: string;
  /** Returns the next ID, above all before it. @throws RaindropError when it cannot be had now */
  nextId(): bigint;
  /** Returns the next ID as decimal text. @throws RaindropError when it cannot be had now */
  nextString(): string;
  /**
   * Returns the next ID as a number.
   * @throws UnsafeIntegerError above 2^53 - 1; RaindropError when it cannot be had now
   */
  nextNumber(): number;
  /**
   * Returns `count` IDs, ascending.
   * @throws InvalidBatchError; RaindropError when they cannot be had now, and then none is
   */
  nextIds(count: number): bigint[];
  /** Returns `count` IDs as decimal texts, ascending. @throws as `nextIds` */
  nextStrings(count: number): string[];
  /** Fills an array of yours and returns it. @throws as `nextIds`; the array is zeroed then */
  fill(target: BigInt64Array): BigInt64Array;
  /** Returns the next ID; waits where that helps. */
  nextIdAsync(wait?: WaitOptions): Promise<bigint>;
  /** Returns the next ID as decimal text; waits where that helps. */
  nextStringAsync(wait?: WaitOptions): Promise<string>;
  /** Returns `count` IDs, ascending; waits where that helps. */
  nextIdsAsync(count: number, wait?: WaitOptions): Promise<bigint[]>;
  /** Returns `count` IDs as decimal texts, ascending; waits where that helps. */
  nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]>;
  /** Fills an array of yours and resolves with it; waits where that helps. */
  fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array>;
}

/**
 * The calls for IDs of every code; without one they are of IDs that have none. Each code has a sequence of its own: its
 * IDs are unique and ascending, and may equal those of another code.
 *
 * Those without `Async` answer at once or throw; a batch is all or nothing. The others wait where waiting helps, at most
 * `timeoutMs`, and reject with `WaitTimeoutError` or the signal's reason.
 */
export interface IdCalls {
  /**
   * Returns the next ID, above all that this generator gave for the code before.
   * @param code 1-128 characters
   * @throws InvalidCodeError; another RaindropError, whose `retryable` tells whether waiting helps, when none can be had
   *   now: the lease is lost or not there yet, the clock went back, the tick is used up, the layout has ended, closed
   */
  nextId(code?: string): bigint;
  /** Returns the next ID as decimal text: what belongs into JSON. @throws as {@link nextId} */
  nextString(code?: string): string;
  /**
   * Returns the next ID as a number.
   * @throws UnsafeIntegerError above 2^53 - 1, before a position is consumed; as {@link nextId}
   */
  nextNumber(code?: string): number;
  /**
   * Returns `count` IDs at once, ascending; all or none.
   * @param count 1 to `maxBatch`
   * @throws InvalidBatchError; as {@link nextId}
   */
  nextIds(count: number, code?: string): bigint[];
  /** Returns `count` IDs as decimal texts, ascending; all or none. @throws as {@link nextIds} */
  nextStrings(count: number, code?: string): string[];
  /**
   * Fills an array of yours, ascending, and returns it: the fastest way to many IDs.
   * @param target of `maxBatch` places at most
   * @throws as {@link nextIds}; the array is zeroed then
   */
  fill(target: BigInt64Array, code?: string): BigInt64Array;
  /** Returns the next ID; waits where that helps: for a lease, the clock, the next tick. */
  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint>;
  /** Returns the next ID as decimal text; waits where that helps. */
  nextStringAsync(code?: string, wait?: WaitOptions): Promise<string>;
  /** Returns `count` IDs; waits where that helps: a large batch may take the sequences of several ticks. */
  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]>;
  /** Returns `count` IDs as decimal texts; waits where that helps. */
  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]>;
  /**
   * Fills an array of yours; waits where that helps. Nobody else may use the array meanwhile; it is zeroed on failure.
   */
  fillAsync(target: BigInt64Array, code?: string, wait?: WaitOptions): Promise<BigInt64Array>;
  /** Returns the calls above for one code, without the look-up. @throws InvalidCodeError */
  forCode(code: string): BoundIdCalls;
  /**
   * Tells why an ID would be refused at this moment; undefined when it would not be. Nothing is issued.
   * @throws InvalidCodeError
   */
  refusal(code?: string): RaindropError | undefined;
  /**
   * Begins to count the IDs of some codes apart, those issued so far included: for metrics of your own.
   * @throws ConfigurationError naming every option that is wrong
   */
  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode;
}

/** Where an engine keeps what it has of each code. */
export interface Codes<Code> {
  /** What it has of a code; without one, of the IDs that have none. @throws RaindropError that tells why it cannot be used */
  of(code?: string): Code;
  /** What it has now of a code that was found before: looked up only when that is gone. */
  revalidate(code: string, found: Code): Code;
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
    return new BoundCalls(code, this.outputs, () => (found = codes.revalidate(code, found)));
  }
}

/**
 * The calls for one code, without the look-up. Kept as long as you like: when the code has made room for others in
 * between, it is looked up again.
 */
class BoundCalls<Code> implements BoundIdCalls {
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
