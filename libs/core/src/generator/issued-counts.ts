import { OptionReader } from '../config/option-reader.js';
import { isCode } from './generator-errors.js';
import { Sequencer } from './tick-cursor.js';

/** Every code that is counted apart becomes a series of somebody's: they must stay few. */
const MAX_CODES = 500;

/** The options say which codes are counted apart. */
export interface IssuedByCodeOptions {
  /** These in any case, at most 500, from 0 on before their first use. Default none. */
  readonly codes?: readonly string[];
  /** So many more, the first ones that are used. 0-500, default 20. */
  readonly firstCodes?: number;
}

/** IDs issued since the start; the three parts add up to the total. */
export interface IssuedCounts {
  /** Without a code. */
  readonly plain: number;
  /** Under each code that is counted apart. */
  readonly byCode: ReadonlyMap<string, number>;
  /** Under all other codes together. */
  readonly others: number;
}

/** Counts the IDs issued by code, for metrics, for as long as somebody has it. */
export interface IssuedByCode {
  /** How many reads in a row it takes until one leaves out nothing that was issued before the first. */
  readonly reads: number;
  /** What was issued up to now. */
  read(): IssuedCounts;
}

/** @throws ConfigurationError naming every option that is wrong */
function resolveIssuedByCodeOptions(options: IssuedByCodeOptions): Required<IssuedByCodeOptions> {
  const reader = new OptionReader(options);
  const codes = reader.value('codes') ?? [];
  const firstCodes = reader.integer('firstCodes', { min: 0, max: MAX_CODES, default: 20 });
  if (!Array.isArray(codes) || codes.length > MAX_CODES) {
    reader.problem('codes', codes, `must be a list of at most ${MAX_CODES} codes`);
  } else {
    const wrong = codes.findIndex((code) => !isCode(code));
    if (wrong >= 0) reader.problem('codes', codes[wrong], 'must be texts of 1 to 128 characters');
  }
  reader.finish();
  return { codes: codes as string[], firstCodes };
}

/** A read looks at so many codes at most: about 0.1 ms, where a million at once would take 30. */
const MAX_LOOKS = 10_000;

/**
 * The IDs issued by all sequencers of a table. Issuing adds nothing to it: sequencers count themselves, and a read takes
 * in what they have issued since it last looked at them.
 *
 * With 10,000 codes or more a read looks at the next 10,000 and may leave out what the others have issued since their
 * last turn; {@link reads} of them in a row leave out nothing that was issued before the first. No read counts an ID
 * twice or goes back, whichever codes come and go.
 */
export class IssuedTotal {
  private readonly sequencers: Sequencer[] = [];
  private issued = 0;
  private next = 0;

  /** How many reads it takes to look at every code once. */
  get reads(): number {
    return Math.ceil(this.sequencers.length / MAX_LOOKS);
  }

  /** Makes a sequencer, in the place of one that issues no more. */
  newSequencer(evicted?: Sequencer): Sequencer {
    if (evicted !== undefined) this.count(evicted);
    const fresh = new Sequencer(evicted?.slot ?? this.sequencers.length);
    this.sequencers[fresh.slot] = fresh;
    return fresh;
  }

  /** Takes in what one sequencer has issued; answers with all of that. */
  count(s: Sequencer): number {
    this.issued += s.takeUncounted();
    return s.issued;
  }

  read(): number {
    for (let looks = Math.min(this.sequencers.length, MAX_LOOKS); looks > 0; looks--) {
      if (this.next >= this.sequencers.length) this.next = 0;
      this.count(this.sequencers[this.next++]!);
    }
    return this.issued;
  }
}

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
      this.codeAdded(code);
    }
  }

  get reads(): number {
    return this.codes.reads;
  }

  /** Is told of every code that comes. */
  codeAdded(code: string): void {
    if (this.apart.size < this.room && !this.apart.has(code)) this.apart.set(code, 0);
  }

  /** Is told of every code that makes room for others. */
  codeEvicted(code: string, issued: number): void {
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

/** Listeners whom nobody has to end: one that nobody else holds any more is forgotten. */
export class WeakListeners<Listener extends object> {
  private readonly refs = new Set<WeakRef<Listener>>();

  add(listener: Listener): void {
    this.forEach(() => undefined);
    this.refs.add(new WeakRef(listener));
  }

  /** Calls back for each that is still there. */
  forEach(call: (listener: Listener) => void): void {
    for (const ref of this.refs) {
      const listener = ref.deref();
      if (listener === undefined) this.refs.delete(ref);
      else call(listener);
    }
  }
}
