import { isCode } from '../generator/code-table.js';
import { InvalidCodeError } from '../generator/generator-errors.js';
import type { IssuedByCodeOptions } from '../generator/issued-by-code.js';
import { ClosedError } from '../lease/lease-errors.js';
import type { RaindropError } from '../raindrop-error.js';
import { TooManyCodesError } from '../segment/segment-errors.js';
import type { PrefetchContext } from './prefetch-context.js';
import { PrefetchCounts } from './prefetch-counts.js';
import { PrefetchedCode } from './prefetched-code.js';

/** So many codes are looked at in one call for one that makes room: some ten microseconds. */
const MAX_LOOKS = 1_000;

/** The codes in use: at most `maxCodes`, of which one with nothing at hand makes room for another. */
export class PrefetchedCodes {
  /** IDs without a code. */
  readonly plain: PrefetchedCode;
  private readonly named = new Map<string, PrefetchedCode>();
  private readonly counts = new Set<PrefetchCounts>();
  /** Handed out of codes that made room for others. */
  private issuedBefore = 0;
  private isClosed = false;
  /** What is looked at next when room is wanted, and what was found last. */
  private hand = this.named.values();
  private idle: PrefetchedCode | undefined;

  constructor(private readonly ctx: PrefetchContext) {
    this.plain = new PrefetchedCode(undefined, ctx);
  }

  get size(): number {
    return this.named.size;
  }

  /** IDs that were handed out. */
  get issued(): number {
    let issued = this.issuedBefore;
    for (const { supply } of this) issued += supply.queue.issued;
    return issued;
  }

  /** That without a code, and then those in use, in the order in which they came. */
  *[Symbol.iterator](): Iterator<PrefetchedCode> {
    yield this.plain;
    yield* this.named.values();
  }

  peek(code: string): PrefetchedCode | undefined {
    return this.named.get(code);
  }

  /** @throws InvalidCodeError; TooManyCodesError; ClosedError */
  of(code: string | undefined): PrefetchedCode {
    if (code === undefined) return this.plain;
    return this.named.get(code) ?? this.add(code);
  }

  /** Why a code that is not in use cannot come into use. */
  obstacle(code: string): RaindropError | undefined {
    if (!isCode(code)) return new InvalidCodeError(code);
    if (this.isClosed) return new ClosedError();
    if (!this.isFull || this.findIdle() !== undefined) return undefined;
    return new TooManyCodesError(code, this.ctx.options.maxCodes);
  }

  /** @throws ConfigurationError naming every option that is wrong */
  count(options?: IssuedByCodeOptions): PrefetchCounts {
    const { plain, named: codes, issuedBefore } = this;
    const stop = (): void => void this.counts.delete(counts);
    const counts: PrefetchCounts = new PrefetchCounts({ plain, codes, issuedBefore, stop }, options);
    this.counts.add(counts);
    return counts;
  }

  close(): void {
    this.isClosed = true;
    for (const { supply } of this) supply.close();
  }

  private add(code: string): PrefetchedCode {
    const obstacle = this.obstacle(code);
    if (obstacle !== undefined) throw obstacle;
    if (this.isFull) this.drop(this.idle!);
    const fresh = new PrefetchedCode(code, this.ctx);
    this.named.set(code, fresh);
    return fresh;
  }

  private get isFull(): boolean {
    return this.named.size >= this.ctx.options.maxCodes;
  }

  /**
   * A code that can make room: what its source issues later is later than all it gave, should it come back. Found again
   * until it is in use; otherwise the search goes on where it ended, so that one call never looks at all of very many.
   */
  private findIdle(): PrefetchedCode | undefined {
    const isIdle = (each: PrefetchedCode | undefined): boolean => each?.isBound === false && each.supply.isIdle;
    for (let looks = Math.min(this.named.size, MAX_LOOKS); looks > 0 && !isIdle(this.idle); looks--) {
      const next = this.hand.next();
      if (next.done === true) this.hand = this.named.values();
      this.idle = next.done === true ? this.hand.next().value : next.value;
    }
    return isIdle(this.idle) ? this.idle : undefined;
  }

  private drop({ code, supply }: PrefetchedCode): void {
    supply.retire();
    this.named.delete(code);
    this.idle = undefined;
    this.issuedBefore += supply.queue.issued;
    for (const each of this.counts) each.dropped(code, supply.queue.issued);
  }
}
