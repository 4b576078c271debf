import { pause } from '../async.js';
import { CallsByCode, type Codes, type IdCalls } from '../generator/id-calls.js';
import {
  CodeCounts,
  type CountedCodes,
  type IssuedByCode,
  type IssuedByCodeOptions,
  WeakListeners,
} from '../generator/issued-counts.js';
import { InvalidCodeError, isCode } from '../generator/generator-errors.js';
import { type BatchRequest, Outputs } from '../generator/outputs.js';
import type { WaitOptions } from '../generator/waiting.js';
import { ClosedError } from '../lease/lease-errors.js';
import { PermanentError, type RaindropError } from '../raindrop-error.js';
import type { IdBuffer, Prefetcher, PrefetcherContext } from './prefetcher.js';

/** IDs that are fetched ahead of need, for every code. */
export class BufferedGenerator<One extends Prefetcher>
  extends CallsByCode<One, PrefetcherTable<One>>
  implements IdCalls
{
  constructor(rules: CodeRules<One>, ctx: PrefetcherContext) {
    super(new PrefetcherTable(rules), new BufferedOutputs(ctx));
  }

  refusal(code?: string): RaindropError | undefined {
    return this.codes.refusal(code);
  }

  issuedByCode(options?: IssuedByCodeOptions): IssuedByCode {
    return this.codes.count(options);
  }

  /** Call it when this process may be a copy of another, which has the same IDs at hand and under way: drops these. */
  afterRestore(): void {
    for (const each of this.codes) each.forget();
  }
}

const takeOne = (buffer: IdBuffer): bigint => buffer.next();

/** Hands out the IDs at hand. An async batch takes all its IDs at once: a call that gives up has taken none. */
export class BufferedOutputs<One extends Prefetcher> extends Outputs<One> {
  constructor(private readonly ctx: PrefetcherContext) {
    super(ctx.options.maxBatch);
  }

  id(prefetcher: One): bigint {
    return prefetcher.next();
  }

  text(prefetcher: One): string {
    return prefetcher.nextText();
  }

  number(prefetcher: One): number {
    return prefetcher.nextNumber();
  }

  async idAsync(find: () => One, wait?: WaitOptions): Promise<bigint> {
    const prefetcher = find();
    const { taken, generation } = await prefetcher.takeSoon(1, takeOne, wait);
    return prefetcher.generation === generation ? taken : this.idAsync(find, wait);
  }

  protected write<Batch>(prefetcher: One, order: BatchRequest<Batch>): void {
    prefetcher.take(order.count).write(order, 0, order.count);
  }

  protected async writeAsync<Batch>(find: () => One, order: BatchRequest<Batch>, wait?: WaitOptions): Promise<void> {
    const prefetcher = find();
    const { taken, generation } = await prefetcher.takeSoon(order.count, (buffer) => buffer.take(order.count), wait);
    const slice = taken.sliceOf(order);
    for (let from = 0; from < order.count; from += slice) {
      if (from > 0) await this.yieldToEventLoop();
      taken.write(order, from, Math.min(from + slice, order.count));
    }
    // The process was copied meanwhile: the copy hands these out.
    if (prefetcher.generation !== generation) await this.writeAsync(find, order, wait);
  }

  private yieldToEventLoop(): Promise<void> {
    return pause(this.ctx.ports.timers, 0, 'foreground');
  }
}

/** How the codes of an engine come, and how they go. */
interface CodeRules<One> {
  readonly maxCodes: number;
  /** The code of calls that name none; undefined when their IDs have a prefetcher of their own. */
  readonly plainCode: string | undefined;
  /** How many codes one call looks at, at most, to find a code that can make room. */
  readonly maxLooks: number;
  make(code: string | undefined): One;
  /** Whether a code can make room for another one. */
  isIdle(prefetcher: One): boolean;
  /** Why a code that is not in use yet has no ID at hand. */
  notReady(code: string): RaindropError;
}

/** The prefetchers of the codes in use: at most `maxCodes`, of which an idle one makes room for another. */
class PrefetcherTable<One extends Prefetcher> implements Codes<One>, CountedCodes {
  readonly reads = 1;
  private readonly named = new Map<string, One>();
  /** For calls without a code. */
  private plain: One | undefined;
  private readonly counts = new WeakListeners<CodeCounts>();
  /** Handed out of codes that made room for others. */
  private issuedBefore = 0;
  private isClosed = false;
  /** Where the search for an idle code goes on, and the code that it found last. */
  private hand = this.named.entries();
  private idle: [string, One] | undefined;

  constructor(private readonly rules: CodeRules<One>) {
    if (rules.plainCode === undefined) this.plain = rules.make(undefined);
  }

  /** How many codes are in use. */
  get size(): number {
    return this.named.size;
  }

  get issued(): number {
    let issued = this.issuedBefore;
    for (const each of this) issued += each.issued;
    return issued;
  }

  get plainIssued(): number {
    return this.rules.plainCode === undefined ? this.plain!.issued : 0;
  }

  names(): Iterable<string> {
    return this.named.keys();
  }

  issuedOf(code: string): number {
    return this.named.get(code)?.issued ?? 0;
  }

  /** The prefetcher of IDs without a code, where they have one; then those of the codes in use, as they came. */
  *[Symbol.iterator](): Iterator<One> {
    if (this.rules.plainCode === undefined) yield this.plain!;
    yield* this.named.values();
  }

  /** @throws InvalidCodeError; TooManyCodesError; ClosedError */
  of(code?: string): One {
    if (code === undefined) return (this.plain ??= this.of(this.rules.plainCode));
    return this.named.get(code) ?? this.add(code);
  }

  revalidate(code: string, found: One): One {
    return found.isDropped ? this.of(code) : found;
  }

  /** Why an ID of a code would be refused now; undefined when it would not be. */
  refusal(code: string | undefined): RaindropError | undefined {
    const name = code === undefined ? this.rules.plainCode : code;
    const known = name === undefined ? this.plain : this.named.get(name);
    return known === undefined ? (this.obstacle(name!) ?? this.rules.notReady(name!)) : known.refusal();
  }

  /** @throws ConfigurationError naming every option that is wrong */
  count(options?: IssuedByCodeOptions): CodeCounts {
    const counts = new CodeCounts(this, options);
    this.counts.add(counts);
    return counts;
  }

  /** From the first moment on no code comes into use. Never rejects. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(Array.from(this, (each) => each.close()));
  }

  private add(code: string): One {
    const obstacle = this.obstacle(code);
    if (obstacle !== undefined) throw obstacle;
    if (this.isFull) this.drop(this.idle!);
    const fresh = this.rules.make(code);
    this.named.set(code, fresh);
    this.counts.forEach((each) => each.codeAdded(code));
    return fresh;
  }

  /** Why a code that is not in use cannot come into use. */
  private obstacle(code: string): RaindropError | undefined {
    if (!isCode(code)) return new InvalidCodeError(code);
    if (this.isClosed) return new ClosedError();
    if (!this.isFull || this.findIdle()) return undefined;
    return new TooManyCodesError(code, this.rules.maxCodes);
  }

  private get isFull(): boolean {
    return this.named.size >= this.rules.maxCodes;
  }

  /**
   * Looks for a code that can make room. The code found last is found again until it is in use; otherwise the search goes
   * on where it ended, so that one call looks at `maxLooks` codes at most.
   */
  private findIdle(): boolean {
    const isIdle = (): boolean =>
      this.idle !== undefined && this.idle[1] !== this.plain && this.rules.isIdle(this.idle[1]);
    for (let looks = Math.min(this.named.size, this.rules.maxLooks); looks > 0 && !isIdle(); looks--) {
      const next = this.hand.next();
      if (next.done === true) this.hand = this.named.entries();
      this.idle = next.done === true ? this.hand.next().value : next.value;
    }
    return isIdle();
  }

  private drop([code, prefetcher]: [string, One]): void {
    prefetcher.isDropped = true;
    this.named.delete(code);
    this.idle = undefined;
    this.issuedBefore += prefetcher.issued;
    this.counts.forEach((each) => each.codeEvicted(code, prefetcher.issued));
    void prefetcher.close();
  }
}

/** More codes than `maxCodes` were asked for in this process. A code that is dropped would lose its numbers. */
export class TooManyCodesError extends PermanentError {
  static override readonly name = 'TooManyCodesError';
  readonly errorCode = 'TOO_MANY_CODES';

  constructor(
    readonly idCode: string,
    readonly maxCodes: number,
  ) {
    super(
      `'${idCode}' would exceed maxCodes (${maxCodes}). Codes are a few known business kinds: do not build them from ` +
        `user input. If you need more, raise maxCodes.`,
    );
  }
}
