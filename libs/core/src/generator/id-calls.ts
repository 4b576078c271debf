import type { RaindropError } from '../raindrop-error.js';
import { InvalidCodeError } from './generator-errors.js';
import type { IssuedByCode, IssuedByCodeOptions } from './issued-counts.js';
import { bigintWriter, type Outputs, textWriter } from './outputs.js';
import type { WaitOptions } from './waiting.js';

/**
 * The calls that issue IDs. {@link IdCalls} takes a code at every call: `Code` is `[code?: string]`. {@link
 * BoundIdCalls} takes none, since its code is fixed: `Code` is `[]`.
 */
interface Calls<Code extends [code?: string | undefined]> {
  /**
   * Returns the next ID, above all that this generator gave for the code before.
   * @param code 1-128 characters
   * @throws InvalidCodeError; another RaindropError when no ID can be had now, whose `retryable` tells whether waiting
   *   helps: the lease is lost or not there yet, the clock went back, the tick is used up, the layout has ended, closed
   */
  nextId(...code: Code): bigint;
  /** Returns the next ID as decimal text: the form for JSON. @throws as `nextId` */
  nextString(...code: Code): string;
  /**
   * Returns the next ID as a number.
   * @throws UnsafeIntegerError above 2^53 - 1, before a position is consumed; as `nextId`
   */
  nextNumber(...code: Code): number;
  /**
   * Returns `count` IDs at once, ascending; all or none.
   * @param count 1 to `maxBatch`
   * @throws InvalidBatchError; as `nextId`
   */
  nextIds(count: number, ...code: Code): bigint[];
  /** Returns `count` IDs as decimal texts, ascending; all or none. @throws as `nextIds` */
  nextStrings(count: number, ...code: Code): string[];
  /**
   * Fills an array of yours, ascending, and returns it: the fastest way to many IDs.
   * @param target of `maxBatch` places at most
   * @throws as `nextIds`; the array is zeroed then
   */
  fill(target: BigInt64Array, ...code: Code): BigInt64Array;
  /** Returns the next ID; waits where that helps: for a lease, the clock, the next tick. */
  nextIdAsync(...codeAndWait: [...code: Code, wait?: WaitOptions | undefined]): Promise<bigint>;
  /** Returns the next ID as decimal text; waits where that helps. */
  nextStringAsync(...codeAndWait: [...code: Code, wait?: WaitOptions | undefined]): Promise<string>;
  /** Returns `count` IDs, ascending; waits where that helps: a large batch may take the sequences of several ticks. */
  nextIdsAsync(count: number, ...codeAndWait: [...code: Code, wait?: WaitOptions | undefined]): Promise<bigint[]>;
  /** Returns `count` IDs as decimal texts, ascending; waits where that helps. */
  nextStringsAsync(count: number, ...codeAndWait: [...code: Code, wait?: WaitOptions | undefined]): Promise<string[]>;
  /**
   * Fills an array of yours, ascending; waits where that helps. Leave the array alone until the call has settled; it is
   * zeroed when the call rejects.
   */
  fillAsync(
    target: BigInt64Array,
    ...codeAndWait: [...code: Code, wait?: WaitOptions | undefined]
  ): Promise<BigInt64Array>;
}

/**
 * The calls for IDs of every code; a call without a code issues IDs that have none. Each code has its own
 * sequence: its IDs are unique and ascending, and may equal those of another code.
 *
 * The calls without `Async` answer at once or throw; a batch is all or nothing. The async calls wait where waiting
 * helps, at most `timeoutMs`, and reject with `WaitTimeoutError` or the signal's reason.
 */
export interface IdCalls extends Calls<[code?: string | undefined]> {
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

/** The calls of {@link IdCalls} for IDs of one code, which is looked up once. */
export interface BoundIdCalls extends Calls<[]> {
  /** The code of these IDs. */
  readonly code: string;
}

/** Keeps the state that an engine has of each code: a sequencer, or a buffer of numbers. */
export interface Codes<Code> {
  /**
   * Finds the state of a code; without one, of the IDs that have none.
   * @throws RaindropError: why the code cannot be used
   */
  of(code?: string): Code;
  /** Answers with `found`, which {@link of} gave before; with the code's new state when it was evicted since. */
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
    return this.outputs.batch(this.codes.of(code), count, bigintWriter);
  }

  nextStrings(count: number, code?: string): string[] {
    return this.outputs.batch(this.codes.of(code), count, textWriter);
  }

  fill(target: BigInt64Array, code?: string): BigInt64Array {
    return this.outputs.fill(this.codes.of(code), target);
  }

  nextIdAsync(code?: string, wait?: WaitOptions): Promise<bigint> {
    return this.outputs.idAsync(() => this.codes.of(code), wait);
  }

  async nextStringAsync(code?: string, wait?: WaitOptions): Promise<string> {
    return (await this.nextIdAsync(code, wait)).toString();
  }

  nextIdsAsync(count: number, code?: string, wait?: WaitOptions): Promise<bigint[]> {
    return this.outputs.batchAsync(() => this.codes.of(code), count, bigintWriter, wait);
  }

  nextStringsAsync(count: number, code?: string, wait?: WaitOptions): Promise<string[]> {
    return this.outputs.batchAsync(() => this.codes.of(code), count, textWriter, wait);
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
 * The calls for one code, without the look-up. The caller may keep it for as long as it likes: an evicted code is
 * looked up again.
 */
class BoundCalls<Code> implements BoundIdCalls {
  /** @param current gives the state that the engine has of the code now */
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
    return this.outputs.batch(this.current(), count, bigintWriter);
  }

  nextStrings(count: number): string[] {
    return this.outputs.batch(this.current(), count, textWriter);
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
    return this.outputs.batchAsync(this.current, count, bigintWriter, wait);
  }

  nextStringsAsync(count: number, wait?: WaitOptions): Promise<string[]> {
    return this.outputs.batchAsync(this.current, count, textWriter, wait);
  }

  fillAsync(target: BigInt64Array, wait?: WaitOptions): Promise<BigInt64Array> {
    return this.outputs.fillAsync(this.current, target, wait);
  }
}
