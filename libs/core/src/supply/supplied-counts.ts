import {
  resolveIssuedByCodeOptions,
  type IssuedByCode,
  type IssuedByCodeOptions,
  type IssuedCounts,
} from '../generator/issued-by-code.js';

/** What is counted. */
export interface CountedCodes {
  readonly plainIssued: number;
  /** Of the codes in use. */
  issuedByCode(): Iterable<[string, number]>;
}

/**
 * IDs handed out by code, for metrics. A code that is counted apart stays so, also when it makes room for others and comes
 * back: no number ever goes down.
 */
export class SuppliedCounts implements IssuedByCode {
  readonly reads = 1;
  /** Counted apart: what they had handed out before they made room. */
  private readonly apart: Map<string, number>;
  private readonly named: ReadonlySet<string>;
  private readonly room: number;

  /**
   * @param othersBefore handed out of codes that are not in use any more
   * @throws ConfigurationError naming every option that is wrong
   */
  constructor(
    private readonly of: CountedCodes,
    private othersBefore: number,
    options: IssuedByCodeOptions = {},
  ) {
    const { codes, firstCodes } = resolveIssuedByCodeOptions(options);
    this.named = new Set(codes);
    this.apart = new Map(codes.map((code) => [code, 0]));
    this.room = this.apart.size + firstCodes;
  }

  /** Is told when a code makes room for others. */
  dropped(code: string, issued: number): void {
    // One that never had an ID leaves its place to others.
    if (this.apart.get(code) === 0 && issued === 0 && !this.named.has(code)) this.apart.delete(code);
    else if (this.isApart(code)) this.apart.set(code, this.apart.get(code)! + issued);
    else this.othersBefore += issued;
  }

  read(): IssuedCounts {
    let others = this.othersBefore;
    const byCode = new Map<string, number>();
    for (const [code, issued] of this.of.issuedByCode()) {
      if (this.isApart(code)) byCode.set(code, issued);
      else others += issued;
    }
    for (const [code, before] of this.apart) byCode.set(code, before + (byCode.get(code) ?? 0));
    return { plain: this.of.plainIssued, byCode, others };
  }

  /** The first ones are found when they are looked at. */
  private isApart(code: string): boolean {
    if (!this.apart.has(code) && this.apart.size < this.room) this.apart.set(code, 0);
    return this.apart.has(code);
  }
}
