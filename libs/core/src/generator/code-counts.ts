import {
  resolveIssuedByCodeOptions,
  type IssuedByCode,
  type IssuedByCodeOptions,
  type IssuedCounts,
} from './issued-by-code.js';

/** What is counted: an engine's codes. */
export interface CountedCodes {
  /** How many reads of {@link issued} it takes until none leaves anything out. */
  readonly reads: number;
  /** IDs issued since the start, those of codes that have made room included. */
  readonly issued: number;
  /** IDs issued without a code. */
  readonly plainIssued: number;
  /** The codes that are kept, in the order in which they came as long as there was room. */
  names(): Iterable<string>;
  /** IDs issued since the code came, all of them in the next {@link issued}; 0 when it is not kept. */
  issuedOf(code: string): number;
}

/**
 * IDs issued by code, for metrics. Issuing pays nothing for it; a read looks at the codes that are counted apart only.
 *
 * A code that is counted apart stays so, also when it makes room for others and comes back. What was issued under a code
 * that had made room before the counting began is among the others. So no number ever goes down, and none goes from one
 * part to another.
 */
export class CodeCounts implements IssuedByCode {
  /** Counted apart: what they had issued before they made room. */
  private readonly apart: Map<string, number>;
  private readonly named: ReadonlySet<string>;
  private readonly room: number;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly codes: CountedCodes,
    options: IssuedByCodeOptions = {},
  ) {
    const { codes: named, firstCodes } = resolveIssuedByCodeOptions(options);
    this.named = new Set(named);
    this.apart = new Map(named.map((code) => [code, 0]));
    this.room = this.apart.size + firstCodes;
    for (const code of codes.names()) {
      if (this.apart.size >= this.room) break;
      this.came(code);
    }
  }

  get reads(): number {
    return this.codes.reads;
  }

  /** Is told of every code that comes. */
  came(code: string): void {
    if (this.apart.size < this.room && !this.apart.has(code)) this.apart.set(code, 0);
  }

  /** Is told of every code that makes room for others. */
  gone(code: string, issued: number): void {
    const before = this.apart.get(code);
    if (before === undefined) return;
    // One that never had an ID leaves its place to others.
    if (before + issued === 0 && !this.named.has(code)) this.apart.delete(code);
    else this.apart.set(code, before + issued);
  }

  read(): IssuedCounts {
    const plain = this.codes.plainIssued;
    const byCode = new Map<string, number>();
    let counted = plain;
    for (const [code, before] of this.apart) {
      const issued = before + this.codes.issuedOf(code);
      byCode.set(code, issued);
      counted += issued;
    }
    return { plain, byCode, others: this.codes.issued - counted };
  }
}
