import type { OptionReader } from '../config/option-reader.js';
import { integer, option, type OptionsOf, resolveOptions } from '../config/option-rules.js';
import { isCode } from './generator-errors.js';

/** Each code that is counted apart becomes a time series of the metrics backend: these must stay few. */
const MAX_CODES = 500;

/** The options say which codes are counted apart. */
export const issuedByCodeOptions = {
  /** These in any case, from 0 on before their first use. @range at most 500 codes @defaultValue none */
  codes: option<readonly string[], readonly string[]>(readCodes),
  /** This many more: the first ones that are used. @range 0-500 @defaultValue 20 */
  firstCodes: integer({ min: 0, max: MAX_CODES, default: 20 }),
};

/** The options say which codes are counted apart. */
export interface IssuedByCodeOptions extends Readonly<OptionsOf<typeof issuedByCodeOptions>> {}

function readCodes(reader: OptionReader, name: string): readonly string[] {
  const codes = reader.value(name) ?? [];
  if (!Array.isArray(codes) || codes.length > MAX_CODES) {
    reader.problem(name, codes, `must be a list of at most ${MAX_CODES} codes`);
  } else {
    const wrong = codes.findIndex((code) => !isCode(code));
    if (wrong >= 0) reader.problem(name, codes[wrong], 'must be strings of 1 to 128 characters');
  }
  return codes as string[];
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

/** Counts the IDs issued by code, for metrics. The counting ends when the application drops this object. */
export interface IssuedByCode {
  /** After this many reads in a row, the last one includes every ID that was issued before the first. */
  readonly reads: number;
  /** Counts the IDs issued up to now. */
  read(): IssuedCounts;
}

/** The codes of an engine, as far as counting needs them. */
export interface CountedCodes {
  /** After this many reads of {@link issued} in a row, the last one leaves no ID out. */
  readonly reads: number;
  /** IDs issued since the start, those of evicted codes included. */
  readonly issued: number;
  /** IDs issued without a code. */
  readonly plainIssued: number;
  /** The codes that are kept, in the order in which they came, unless some were evicted. */
  names(): Iterable<string>;
  /** IDs issued since the code came, all of which the next {@link issued} includes; 0 when the code is not kept. */
  issuedOf(code: string): number;
}

/**
 * IDs issued by code, for metrics. Issuing costs nothing more for it; a read looks only at the codes that are counted
 * apart.
 *
 * A code that has issued an ID and is counted apart stays so, also when it is evicted and comes back. IDs of a code
 * that was evicted before the counting began are among the others. So no number ever goes down, and no ID moves from
 * one part to another.
 */
export class CodeCounts implements IssuedByCode {
  /** By code that is counted apart: the IDs that it had issued when it was last evicted. */
  private readonly apart: Map<string, number>;
  private readonly named: ReadonlySet<string>;
  private readonly room: number;

  /** @throws ConfigurationError naming every option that is wrong */
  constructor(
    private readonly codes: CountedCodes,
    options: IssuedByCodeOptions = {},
  ) {
    const { codes: named, firstCodes } = resolveOptions(issuedByCodeOptions, options);
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

  /** The engine calls this for every code that comes. */
  codeAdded(code: string): void {
    if (this.apart.size < this.room && !this.apart.has(code)) this.apart.set(code, 0);
  }

  /** The engine calls this for every code that it evicts. */
  codeEvicted(code: string, issued: number): void {
    const before = this.apart.get(code);
    if (before === undefined) return;
    // A code that never had an ID leaves its place to another one.
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

/** Listeners that need not be removed: a listener that is garbage but for this list is forgotten. */
export class WeakListeners<Listener extends object> {
  private readonly refs = new Set<WeakRef<Listener>>();

  add(listener: Listener): void {
    // Forgets those that are gone.
    this.forEach(() => undefined);
    this.refs.add(new WeakRef(listener));
  }

  /** Calls back for each listener that is still there. */
  forEach(call: (listener: Listener) => void): void {
    for (const ref of this.refs) {
      const listener = ref.deref();
      if (listener === undefined) this.refs.delete(ref);
      else call(listener);
    }
  }
}
