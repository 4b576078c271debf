import {
  resolveIssuedByCodeOptions,
  type IssuedByCode,
  type IssuedByCodeOptions,
  type IssuedCounts,
} from '../generator/issued-by-code.js';
import type { SegmentAllocator } from './segment-allocator.js';

/** Numbers issued by code, for metrics. Calls without a code count under the default one, so `plain` is 0. */
export class AllocatorCounts implements IssuedByCode {
  readonly reads = 1;
  private readonly named: ReadonlySet<string>;
  private readonly firstCodes: number;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly allocators: ReadonlyMap<string, SegmentAllocator>,
    options: IssuedByCodeOptions = {},
  ) {
    const { codes, firstCodes } = resolveIssuedByCodeOptions(options);
    this.named = new Set(codes);
    this.firstCodes = firstCodes;
  }

  read(): IssuedCounts {
    const byCode = new Map([...this.named].map((code) => [code, 0]));
    const room = byCode.size + this.firstCodes;
    let others = 0;
    for (const [code, { issued }] of this.allocators) {
      if (byCode.has(code) || byCode.size < room) byCode.set(code, issued);
      else others += issued;
    }
    return { plain: 0, byCode, others };
  }

  /** Nothing is kept for the counting. */
  stop(): void {}
}
