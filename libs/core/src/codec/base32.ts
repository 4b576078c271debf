import { defineCodec, type CodecForm } from './id-codec.js';
import { InvalidIdError } from './invalid-id-error.js';
import { MAX_ID } from './max-id.js';
import { radixForms, type RadixCodec } from './radix-codec.js';

/** The 32 digits, and the five symbols that only a check can be: the remainder modulo 37. */
const CHECK_SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U';

/** Base32 as Douglas Crockford describes it (https://www.crockford.com/base32.html), strict unless asked otherwise. */
export interface CrockfordCodec extends RadixCodec {
  /**
   * Reads what a person typed, as Crockford allows: any case, I and L for 1, O for 0, hyphens anywhere, leading zeros
   * or none. Only for input by people: many texts mean the same ID here, so never compare or cache by such a text.
   *
   * Up to twice as many characters as `width` are read. A check symbol, where the codec has one, is required.
   * @throws InvalidIdError when it is not an ID even so
   */
  readonly decodeLenient: (text: string) => bigint;
}

const plain = radixForms('base32', '0-9A-HJKMNP-TV-Z');

/**
 * Crockford's base32, upper case: at most 13 characters, or exactly 13 padded, which sorts. `decode` takes the
 * canonical text only; `decodeLenient` is for people.
 */
export const base32 = crockfordCodec(plain.natural, plain.padded);

/**
 * {@link base32} with Crockford's check symbol (the ID modulo 37) at the end: at most 14 characters, or exactly 14
 * padded, which sorts. Finds every single wrong character and every swap of two neighbours. The symbol may be one of
 * `*~$=U`, which do not all go into a URL unescaped.
 */
export const base32Check = crockfordCodec(withCheck(plain.natural), withCheck(plain.padded));

function crockfordCodec(natural: CodecForm, padded: CodecForm): CrockfordCodec {
  const longest = 2 * padded.width;
  const lenientLegal =
    `${natural.legal}; here also in lower case, with I and L for 1, O for 0, hyphens and leading zeros, ` +
    `in ${longest} characters at most`;
  return Object.freeze({
    ...defineCodec(natural),
    padded: defineCodec(padded),
    decodeLenient: (text: string) => {
      const typed = typeof text === 'string' && text.length <= longest ? normalize(text) : '';
      const id = typed === '' ? undefined : padded.parse(typed.padStart(padded.width, '0'));
      if (id === undefined || id > MAX_ID) throw new InvalidIdError(natural.name, text, lenientLegal);
      return id;
    },
  });
}

/** ASCII alone changes case: `toUpperCase` would make an I of a dotless i. */
function normalize(text: string): string {
  const upper = text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return upper.replace(/-/g, '').replace(/[IL]/g, '1').replace(/O/g, '0');
}

function withCheck(form: CodecForm): CodecForm {
  const checkOf = (id: bigint): string => CHECK_SYMBOLS[Number(id % 37n)]!;
  return {
    ...form,
    name: form.name.replace('base32', 'base32-check'),
    width: form.width + 1,
    legal: `${form.legal}, then the check symbol, which must fit (a mistyped ID does not)`,
    format: (id) => form.format(id) + checkOf(id),
    parse: (text) => {
      const id = form.parse(text.slice(0, -1));
      return id !== undefined && text.endsWith(checkOf(id)) ? id : undefined;
    },
  };
}
