import {
  resolveIssuedByCodeOptions,
  type IssuedByCode,
  type IssuedByCodeOptions,
  type IssuedCounts,
} from '../generator/issued-by-code.js';
import type { PrefetchedCode } from './prefetched-code.js';

/** What is counted. */
export interface CountedCodes {
  readonly plain: PrefetchedCode;
  /** Those in use. */
  readonly codes: ReadonlyMap<string, PrefetchedCode>;
  /** Handed out of codes that are not in use any more. */
  readonly issuedBefore: number;
  /** Ends it. */
  stop(): void;
}

/**
 * IDs handed out by code, for metrics. A code that is counted apart stays so, also when it makes room for others and comes
 * back: no number ever goes down.
 */
export class PrefetchCounts implements IssuedByCode {
  readonly reads = 1;
  /** Counted apart: what they had handed out before they made room. */
  private readonly apart: Map<string, number>;
  private readonly room: number;
  private othersBefore: number;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly of: CountedCodes,
    options: IssuedByCodeOptions = {},
  ) {
    const { codes: named, firstCodes } = resolveIssuedByCodeOptions(options);
    this.apart = new Map(named.map((code) => [code, 0]));
    this.room = this.apart.size + firstCodes;
    this.othersBefore = of.issuedBefore;
  }

  /** To be told when a code makes room for others. */
  dropped(code: string, issued: number): void {
    if (this.isApart(code)) this.apart.set(code, this.apart.get(code)! + issued);
    else this.othersBefore += issued;
  }

  read(): IssuedCounts {
    const { plain, codes } = this.of;
    const now = Array.from(codes, ([code, { supply }]) => ({ code, issued: supply.queue.issued }));
    const those = now.filter(({ code }) => this.isApart(code));
    const byCode = new Map(this.apart);
    for (const { code, issued } of those) byCode.set(code, byCode.get(code)! + issued);
    const sum = (each: typeof now): number => each.reduce((total, { issued }) => total + issued, 0);
    return { plain: plain.supply.queue.issued, byCode, others: this.othersBefore + sum(now) - sum(those) };
  }

  stop(): void {
    this.of.stop();
  }

  /** The first ones are found when they are looked at. */
  private isApart(code: string): boolean {
    if (!this.apart.has(code) && this.apart.size < this.room) this.apart.set(code, 0);
    return this.apart.has(code);
  }
}
