import { networkOf } from '../connections/network-of.js';
import { ProblemException } from '../problems/problem.exception.js';

export interface NewNamesRule {
  /** What they are: `codes`. */
  readonly what: string;
  readonly most: number;
  /** From one address (IPv6: from one network of 64 bits). */
  readonly mostOfOne: number;
  /** After this time as many may come again; Infinity: never. */
  readonly everyMs: number;
  /** They may always come. */
  readonly known?: readonly string[];
}

/** Names that anybody may bring and the service keeps: bounded, so that a stranger does not use up the room for them. */
export class NewNames {
  private readonly names = new Set<string>();
  private readonly counts = new Map<string, number>();
  private readonly known: ReadonlySet<string>;
  private endsAt = -Infinity;

  constructor(
    private readonly rule: NewNamesRule,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.known = new Set(rule.known);
  }

  /** Whether a name need not be admitted any more. */
  has(name: string): boolean {
    return this.names.has(name) || this.known.has(name);
  }

  /** @throws ProblemException 429 when there are too many */
  admit(name: string, address: string): void {
    const { most, mostOfOne, everyMs, what } = this.rule;
    const now = this.now();
    if (now >= this.endsAt) {
      this.names.clear();
      this.counts.clear();
      this.endsAt = now + everyMs;
    }
    if (this.has(name)) return;
    const network = networkOf(address);
    const count = (this.counts.get(network) ?? 0) + 1;
    if (count > mostOfOne) throw this.tooMany(`${mostOfOne} new ${what} of one address`);
    if (this.names.size >= most) throw this.tooMany(`${most} new ${what}`);
    this.counts.set(network, count);
    this.names.add(name);
  }

  private tooMany(what: string): ProblemException {
    const retryAfterSeconds = Math.ceil((this.endsAt - this.now()) / 1_000);
    const passes = Number.isFinite(retryAfterSeconds);
    const way = passes ? `, or come again in ${retryAfterSeconds} s` : '';
    const detail = `More than ${what}. Use those that there are, ask with an API key${way}.`;
    const told = { errorCode: 'TOO_MANY_NEW_NAMES', detail, retryable: passes };
    return new ProblemException(429, passes ? { ...told, retryAfterSeconds } : told);
  }
}
