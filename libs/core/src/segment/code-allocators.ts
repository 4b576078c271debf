import { isCode } from '../generator/code-table.js';
import { InvalidCodeError } from '../generator/generator-errors.js';
import { ClosedError } from '../lease/lease-errors.js';
import type { RaindropError } from '../raindrop-error.js';
import { SegmentAllocator } from './segment-allocator.js';
import type { SegmentContext } from './segment-context.js';
import { TooManyCodesError, UnknownCodeError } from './segment-errors.js';
import type { SegmentStore } from './segment-store.js';

/** The allocators of the codes in use, at most `maxCodes`. */
export class CodeAllocators {
  readonly allocators = new Map<string, SegmentAllocator>();
  /** Of calls without a code. */
  private plain: SegmentAllocator | undefined;
  private isClosed = false;

  constructor(
    private readonly store: SegmentStore,
    private readonly ctx: SegmentContext,
  ) {}

  /** @throws InvalidCodeError; TooManyCodesError; ClosedError */
  of(code: string | undefined): SegmentAllocator {
    if (code === undefined) return (this.plain ??= this.named(this.ctx.options.defaultCode));
    return this.allocators.get(code) ?? this.named(code);
  }

  /** Why a code that is not in use cannot come into use. */
  obstacle(code: string): RaindropError | undefined {
    if (!isCode(code)) return new InvalidCodeError(code);
    if (this.isClosed) return new ClosedError();
    const { maxCodes } = this.ctx.options;
    if (this.allocators.size >= maxCodes) this.dropUnknown();
    return this.allocators.size < maxCodes ? undefined : new TooManyCodesError(code, maxCodes);
  }

  /** From the first moment on no code comes into use. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.allocators.values()].map((each) => each.close()));
  }

  private named(code: string): SegmentAllocator {
    const known = this.allocators.get(code);
    if (known !== undefined) return known;
    const obstacle = this.obstacle(code);
    if (obstacle !== undefined) throw obstacle;
    const fresh = new SegmentAllocator(code, this.store.source(code), this.ctx);
    this.allocators.set(code, fresh);
    return fresh;
  }

  /** Codes without a row, of which there never was a number, make room for others. */
  private dropUnknown(): void {
    for (const [code, each] of this.allocators) {
      if (!(each.status.lastError instanceof UnknownCodeError) || each.issued > 0 || each === this.plain) continue;
      this.allocators.delete(code);
      each.isDropped = true;
      void each.close();
    }
  }
}
