import { OptionReader } from '../config/option-reader.js';
import { isCode } from './is-code.js';

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
export function resolveIssuedByCodeOptions(options: IssuedByCodeOptions): Required<IssuedByCodeOptions> {
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
