import { PermanentError } from '../raindrop-error.js';
import { showValue } from '../show-value.js';

/** This many unknown names are reported one by one. More of them are no typing errors: they are only counted. */
const MAX_UNKNOWN_NAMED = 10;

/** The legal range of an integer option, and its default. */
export interface IntegerRule {
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  /** The reason for the range, or what to do; appended to the message. */
  readonly hint?: string;
}

/**
 * Reads options one by one from an untrusted object and collects every problem instead of stopping at the first.
 *
 * Only own properties are read. A name that was never read is unknown: {@link finish} reports it. A value that was
 * refused reads as its default, or the rule's minimum, so that later checks can go on.
 */
export class OptionReader {
  private readonly asked = new Set<string>();
  private readonly found: ConfigurationProblem[] = [];
  private readonly raw: Readonly<Record<string, unknown>>;

  /** @throws ConfigurationError when there is no object to read from */
  constructor(raw: unknown) {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
      throw new ConfigurationError([{ option: 'options', given: describe(raw), message: 'must be an object' }]);
    }
    this.raw = raw as Record<string, unknown>;
  }

  /** Returns the problems found so far. */
  get problems(): readonly ConfigurationProblem[] {
    return this.found;
  }

  /** Adds a problem with `option`. */
  problem(option: string, given: unknown, message: string): void {
    this.found.push({ option, given: describe(given), message });
  }

  /** Tells whether any of these options has a problem so far. */
  refused(...names: readonly string[]): boolean {
    return this.found.some(({ option }) => names.includes(option));
  }

  /** Returns the raw value of an option; undefined when it is not given. */
  value(name: string): unknown {
    this.asked.add(name);
    return Object.hasOwn(this.raw, name) ? this.raw[name] : undefined;
  }

  /** Reads an integer in the rule's range; notes a problem otherwise. */
  integer(name: string, rule: IntegerRule): number {
    const given = this.value(name);
    const fallback = rule.default ?? rule.min;
    if (given === undefined && rule.default !== undefined) return fallback;
    const legal = `an integer from ${rule.min} to ${rule.max}`;
    const hint = rule.hint === undefined ? '' : `; ${rule.hint}`;
    if (given === undefined) this.problem(name, given, `is required: ${legal}${hint}`);
    else if (typeof given === 'string')
      this.problem(name, given, `must be a number, not a string: use Number(...)${hint}`);
    else if (typeof given !== 'number' || !Number.isInteger(given))
      this.problem(name, given, `must be ${legal}${hint}`);
    else if (given < rule.min || given > rule.max)
      this.problem(name, given, `is out of range: must be ${legal}${hint}`);
    else return given;
    return fallback;
  }

  /** Reads a share, 0 to 1; notes a problem otherwise. `of` names the whole, for the message. */
  share(name: string, rule: { readonly default: number; readonly of: string }): number {
    const given = this.value(name);
    if (given === undefined) return rule.default;
    if (typeof given === 'number' && given >= 0 && given <= 1) return given;
    this.problem(name, given, `must be a number from 0 to 1: a share of ${rule.of}`);
    return rule.default;
  }

  /** Reads true or false; notes a problem otherwise. */
  boolean(name: string, fallback: boolean): boolean {
    const given = this.value(name);
    if (given === undefined) return fallback;
    if (typeof given === 'boolean') return given;
    this.problem(name, given, 'must be true or false');
    return fallback;
  }

  /** Reads one of a few names, in upper or lower case; notes a problem otherwise. */
  oneOf<Name extends string>(name: string, names: readonly Name[], fallback: Name): Name {
    const given = this.value(name);
    if (given === undefined) return fallback;
    const match =
      typeof given === 'string' ? names.find((each) => each.toLowerCase() === given.toLowerCase()) : undefined;
    if (match === undefined) this.problem(name, given, `must be one of ${names.map((each) => `'${each}'`).join(', ')}`);
    return match ?? fallback;
  }

  /** Reads a text that fits the pattern; notes a problem otherwise. */
  string(name: string, rule: { fallback: string; pattern: RegExp; legal: string }): string {
    const given = this.value(name);
    if (given === undefined) return rule.fallback;
    if (typeof given === 'string' && rule.pattern.test(given)) return given;
    this.problem(name, given, `must be ${rule.legal}`);
    return rule.fallback;
  }

  /** Reads an object that is itself an option; its problems are reported as `name.option`. */
  nested<Value>(name: string, raw: object, read: (inner: OptionReader) => Value): Value {
    const inner = new OptionReader(raw);
    const value = read(inner);
    inner.reportUnknown();
    this.found.push(...inner.found.map((each) => ({ ...each, option: `${name}.${each.option}` })));
    return value;
  }

  /**
   * Reports the names that were never read, and throws when there is any problem.
   * @throws ConfigurationError with every problem found
   */
  finish(): void {
    this.reportUnknown();
    if (this.found.length > 0) throw new ConfigurationError(this.found);
  }

  private reportUnknown(): void {
    const known = [...this.asked];
    const names = Object.keys(this.raw);
    const unknown = names.filter((name) => !this.asked.has(name));
    for (const name of unknown.slice(0, MAX_UNKNOWN_NAMED)) {
      const near = nearestName(name, known);
      const message = `is not an option${near === undefined ? '' : `; did you mean ${near}?`}`;
      // The message does not show the value: it may be a password that was put into the wrong object.
      this.found.push({ option: name, given: `(${typeof this.raw[name]})`, message });
    }
    const others = unknown.length - MAX_UNKNOWN_NAMED;
    if (others <= 0) return;
    const message = `has ${others} more unknown names`;
    this.found.push({ option: 'options', given: `${names.length} names`, message });
  }
}

function describe(value: unknown): string {
  if (!(value instanceof Date)) return showValue(value);
  return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
}

/** One problem of a configuration. */
export interface ConfigurationProblem {
  /** The option's name. */
  readonly option: string;
  /** The given value as text, shortened. */
  readonly given: string;
  /** The legal values, the reason, and what to do. */
  readonly message: string;
}

/** The configuration cannot work. All problems are reported together, an option a line. */
export class ConfigurationError extends PermanentError {
  static override readonly name = 'ConfigurationError';
  readonly errorCode = 'CONFIGURATION';

  constructor(readonly problems: readonly ConfigurationProblem[]) {
    const lines = problems.map(({ option, given, message }) => `  - ${option} = ${given}: ${message}`);
    super(`Invalid Raindrop configuration:\n${lines.join('\n')}`);
  }
}

/** The known name within two edits of `name` (case aside), for a "did you mean"; undefined when none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > 64) return undefined;
  let best: string | undefined;
  let bestDistance = 3;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Levenshtein's distance, one row of the matrix at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
