import type { Codes } from '../generator/id-calls.js';
import { CodeCounts, type CountedCodes, type IssuedByCodeOptions, WeakListeners } from '../generator/issued-counts.js';
import { InvalidCodeError, isCode } from '../generator/generator-errors.js';
import { ClosedError } from '../lease/lease-errors.js';
import { RaindropError } from '../raindrop-error.js';
import type { Supply } from './supply.js';

/** How the codes of an engine come, and how they go. */
interface CodeRules<One> {
  readonly maxCodes: number;
  /** The code of calls that name none; undefined when their IDs have a supply of their own. */
  readonly plainCode: string | undefined;
  /** So many codes are looked at in one call for one that makes room. */
  readonly maxLooks: number;
  make(code: string | undefined): One;
}

/** The supplies of the codes in use: at most `maxCodes`, of which one that is idle makes room for another. */
export class SuppliedCodes<One extends Supply> implements Codes<One>, CountedCodes {
  readonly reads = 1;
  private readonly named = new Map<string, One>();
  /** Of calls without a code. */
  private plain: One | undefined;
  private readonly counts = new WeakListeners<CodeCounts>();
  /** Handed out of codes that made room for others. */
  private issuedBefore = 0;
  private isClosed = false;
  /** What is looked at next when room is wanted, and what was found last. */
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

  /** The supply of IDs without a code, where they have one, and then those of the codes in use, in the order in which they came. */
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

  /** Why an ID of a code would be refused now. @param notReady for a code that is not in use, but could be */
  refusal(code: string | undefined, notReady: (code: string) => RaindropError): RaindropError | undefined {
    const name = code === undefined ? this.rules.plainCode : code;
    const known = name === undefined ? this.plain : this.named.get(name);
    return known === undefined ? (this.obstacle(name!) ?? notReady(name!)) : known.refusal();
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
   * Looks for a code that can make room. It is found again until it is in use; otherwise the search goes on where it
   * ended, so that one call never looks at all of very many.
   */
  private findIdle(): boolean {
    const isIdle = (): boolean => this.idle?.[1].isIdle === true && this.idle[1] !== this.plain;
    for (let looks = Math.min(this.named.size, this.rules.maxLooks); looks > 0 && !isIdle(); looks--) {
      const next = this.hand.next();
      if (next.done === true) this.hand = this.named.entries();
      this.idle = next.done === true ? this.hand.next().value : next.value;
    }
    return isIdle();
  }

  private drop([code, supply]: [string, One]): void {
    supply.isDropped = true;
    this.named.delete(code);
    this.idle = undefined;
    this.issuedBefore += supply.issued;
    this.counts.forEach((each) => each.codeEvicted(code, supply.issued));
    void supply.close();
  }
}

/** More codes than `maxCodes` were asked for in this process. A code that is dropped would lose its numbers. */
export class TooManyCodesError extends RaindropError {
  readonly errorCode = 'TOO_MANY_CODES';

  constructor(
    readonly idCode: string,
    readonly maxCodes: number,
  ) {
    super(
      `'${idCode}' would be one code more than maxCodes (${maxCodes}) allows. Codes are business kinds, few and known: ` +
        `do not make them of what users send. Otherwise raise maxCodes.`,
      { retryable: false },
    );
  }
}
