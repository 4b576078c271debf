import { showValue, type ConfigurationProblem } from '@raindrop/nestjs';

/** As many codes as metrics count apart. */
const LONGEST_LIST = 500;

const WHOLE_NUMBER = /^\d{1,9}$/;

/** Long enough not to be guessed, and nothing that a header cannot carry. */
const SECRET = /^[\x21-\x2b\x2d-\x7e]{16,256}$/;

/** Reads environment variables one by one and collects what is wrong; an empty one counts as not set. */
export class EnvironmentReader {
  private readonly found: ConfigurationProblem[] = [];

  constructor(private readonly environment: NodeJS.ProcessEnv) {}

  get problems(): readonly ConfigurationProblem[] {
    return this.found;
  }

  problem(option: string, given: unknown, message: string): void {
    this.refuse(option, showValue(given), message);
  }

  /** As {@link problem}, with a value that is not shown. */
  refuse(option: string, shown: string, message: string): void {
    this.found.push({ option, given: shown, message });
  }

  refused(name: string): boolean {
    return this.found.some(({ option }) => option === name);
  }

  text(name: string): string | undefined {
    return this.environment[name]?.trim() || undefined;
  }

  integer(name: string, fallback: number, [min, max]: readonly [number, number], meaning: string): number {
    const given = this.text(name);
    if (given === undefined) return fallback;
    const value = WHOLE_NUMBER.test(given) ? Number(given) : NaN;
    if (value >= min && value <= max) return value;
    this.problem(name, given, `must be an integer from ${min} to ${max}: ${meaning}`);
    return fallback;
  }

  oneOf<const Name extends string>(name: string, names: readonly Name[], fallback: Name): Name {
    const given = this.text(name);
    const match = names.find((each) => each === given?.toLowerCase());
    if (given !== undefined && match === undefined) {
      this.problem(name, given, `must be one of ${names.join(', ')}`);
    }
    return match ?? fallback;
  }

  /** A list with commas between, of at most 500 texts. */
  list(name: string, rule: { readonly pattern: RegExp; readonly legal: string }): readonly string[] {
    const texts = this.texts(name);
    const wrong = texts.find((text) => !rule.pattern.test(text));
    if (wrong !== undefined) this.problem(name, wrong, `must be ${rule.legal}, commas between them`);
    if (texts.length > LONGEST_LIST) this.problem(name, texts.length, `must be at most ${LONGEST_LIST}`);
    return texts;
  }

  /** A list with commas between. What is wrong is not shown. */
  secrets(name: string): readonly string[] {
    const keys = this.texts(name);
    if (!keys.every((key) => SECRET.test(key))) {
      const message = 'must be keys of 16 to 256 printable ASCII characters each, without spaces, commas between them';
      this.refuse(name, 'a text', message);
    }
    return keys;
  }

  private texts(name: string): string[] {
    const texts = this.text(name)?.split(',') ?? [];
    return texts.map((text) => text.trim());
  }

  webAddress(name: string): string | undefined {
    const given = this.text(name);
    if (given === undefined) return undefined;
    if (/^https?:\/\//.test(given) && URL.canParse(given)) return given;
    this.problem(name, given, 'must be an http:// or https:// address');
    return undefined;
  }
}
