import { type CodecForm, defineCodec, type IdCodec, InvalidIdError, MAX_ID } from './id-codec.js';
import { isDecimalId } from './to-id.js';

/** A codec that writes the ID as a number: naturally, without leading zeros, or padded to a fixed width. */
export interface RadixCodec extends IdCodec {
  /**
   * The same digits with leading zeros up to `width`: the texts sort where the alphabet is in ASCII order
   * (`padded.sortable`). Neither form accepts the texts of the other.
   */
  readonly padded: IdCodec;
}

/** Base32 as Douglas Crockford describes it (https://www.crockford.com/base32.html), strict unless asked otherwise. */
export interface CrockfordCodec extends RadixCodec {
  /**
   * Reads a text that a person typed, as Crockford allows: any case, I and L for 1, O for 0, hyphens anywhere, leading
   * zeros or none. Only for input by people: many texts mean the same ID here, so never compare or cache by such a text.
   *
   * Up to twice as many characters as `width` are read. A check symbol, where the codec has one, is required.
   * @throws InvalidIdError when the text is no ID by these rules either
   */
  readonly decodeLenient: (text: string) => bigint;
}

/**
 * A number is computed in two halves, its last eight digits and those above. Both are safe integers: 64^8 is 2^48, and of
 * the longest text (19 decimal digits) 11 digits are above.
 */
const SPLIT = 8;

/** In place of a digit's value, for characters that are none. */
const NO_DIGIT = 255;

/** The digits of `toString(radix)`, in their order. */
const NATIVE_SYMBOLS = '0123456789abcdefghijklmnopqrstuvwxyz';

/** The check symbol of each remainder modulo 37: the 32 digits, and five symbols more. */
const CHECK_SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U';

const decimalForms = radixForms('decimal', '0-9');

/** Decimal digits: the form for JSON and databases; at most 19, or exactly 19 padded. */
export const decimal: RadixCodec = Object.freeze({
  ...defineCodec({ ...decimalForms.natural, parse: (text) => (isDecimalId(text) ? BigInt(text) : undefined) }),
  padded: defineCodec(decimalForms.padded),
});

/** Lower-case hexadecimal without `0x`: at most 16 digits, or exactly 16 padded, which sorts. */
export const hex = radixCodec('hex', '0-9a-f');

const base32Forms = radixForms('base32', '0-9A-HJKMNP-TV-Z');

/**
 * Crockford's base32, upper case: at most 13 characters, or exactly 13 padded, which sorts. `decode` takes the
 * canonical text only; `decodeLenient` is for people.
 */
export const base32 = crockfordCodec(base32Forms.natural, base32Forms.padded);

/**
 * {@link base32} with Crockford's check symbol (the ID modulo 37) at the end: at most 14 characters, or exactly 14
 * padded, which sorts. Finds every single wrong character and every swap of two neighbours. The symbol may be one of
 * `*~$=U`, which do not all go into a URL unescaped.
 */
export const base32Check = crockfordCodec(withCheck(base32Forms.natural), withCheck(base32Forms.padded));

/** Digits and lower-case letters, as `bigint.toString(36)`: at most 13, or exactly 13 padded, which sorts. */
export const base36 = radixCodec('base36', '0-9a-z');

/**
 * The alphabet of Bitcoin, without 0, O, I and l: at most 11 characters, or exactly 11 padded (with `1`, its zero),
 * which sorts. It writes the number, not eight bytes: libraries for bytes put a `1` before it for each leading zero
 * byte. Case matters: not for columns whose collation ignores it.
 */
export const base58 = radixCodec('base58', '1-9A-HJ-NP-Za-km-z');

/**
 * Digits, upper case, lower case: at most 11 characters, or exactly 11 padded, which sorts, for the alphabet is in
 * ASCII order. Case matters: in a column whose collation ignores it (MariaDB's default) two IDs can be one key.
 */
export const base62 = radixCodec('base62', '0-9A-Za-z');

/** Digits, lower case, upper case: for interchange with systems that use this order. Does not sort, padded or not. */
const base62LowerFirst = radixCodec('base62-lower-first', '0-9a-zA-Z');

/** The digits of base64url, for numbers of at most 66 bits. */
export const base64Digits = positionalDigits('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
const BASE64_WIDTH = 11;

/**
 * The ID as eight big-endian bytes in base64url without padding (RFC 4648, section 5), as every library for bytes
 * writes it: always 11 characters. Does not sort: `-` and the digits stand before the letters in ASCII, after them here.
 *
 * Eleven characters hold 66 bits, eight bytes 64: the text is the number `ID * 4`, and its two lowest bits must be zero,
 * so that an ID has one text (RFC 4648, section 3.5).
 */
export const base64url = defineCodec({
  name: 'base64url',
  width: BASE64_WIDTH,
  sortable: false,
  legal: `exactly ${BASE64_WIDTH} characters of A-Za-z0-9-_, without padding, for eight bytes up to 2^63 - 1`,
  format: (id) => base64Digits.format(id << 2n).padStart(BASE64_WIDTH, 'A'),
  parse: (text) => {
    const padded = text.length === BASE64_WIDTH ? base64Digits.parse(text) : undefined;
    return padded === undefined || (padded & 3n) !== 0n ? undefined : padded >> 2n;
  },
});

const table = {
  decimal,
  'decimal-padded': decimal.padded,
  hex,
  'hex-padded': hex.padded,
  base32,
  'base32-padded': base32.padded,
  'base32-check': base32Check,
  'base32-check-padded': base32Check.padded,
  base36,
  'base36-padded': base36.padded,
  base58,
  'base58-padded': base58.padded,
  base62,
  'base62-padded': base62.padded,
  'base62-lower-first': base62LowerFirst,
  'base62-lower-first-padded': base62LowerFirst.padded,
  base64url,
} satisfies Record<string, IdCodec>;

/** The name of a codec, as a `format` parameter takes it. */
export type CodecName = keyof typeof table;

/**
 * Every codec by its name, frozen. The object has no prototype: `codecs['constructor']` and `codecs['__proto__']` are
 * undefined, as is every name that no codec has. `Object.keys(codecs)` lists the names.
 */
export const codecs: Readonly<Record<CodecName, IdCodec>> = Object.freeze(
  Object.assign(Object.create(null) as object, table),
);

/** Tells whether `name` is the name of a codec: the check before `codecs[name]` for a name that came from outside. */
export function isCodecName(name: unknown): name is CodecName {
  return typeof name === 'string' && Object.hasOwn(codecs, name);
}

/** @param symbols the digits from zero up as a character class: `0-9a-f` */
function radixCodec(name: string, symbols: string): RadixCodec {
  const { natural, padded } = radixForms(name, symbols);
  return Object.freeze({ ...defineCodec(natural), padded: defineCodec(padded) });
}

/** Both forms of a radix: natural and padded. */
function radixForms(name: string, symbols: string): { natural: CodecForm; padded: CodecForm } {
  const alphabet = expandRanges(symbols);
  const zero = alphabet[0]!;
  const { format, parse } = positionalDigits(alphabet);
  const largest = format(MAX_ID);
  const width = largest.length;
  return {
    natural: {
      name,
      width,
      sortable: false,
      legal: `1 to ${width} characters of ${symbols}, without a leading ${zero}, up to ${largest} (2^63 - 1)`,
      format,
      parse: (text) => (text.length > 1 && text.startsWith(zero) ? undefined : parse(text)),
    },
    padded: {
      name: `${name}-padded`,
      width,
      sortable: [...alphabet].every((symbol, i) => i === 0 || alphabet[i - 1]! < symbol),
      legal: `exactly ${width} characters of ${symbols}, padded with leading ${zero}, up to ${largest} (2^63 - 1)`,
      format: (id) => format(id).padStart(width, zero),
      parse: (text) => (text.length === width ? parse(text) : undefined),
    },
  };
}

function expandRanges(symbols: string): string {
  return symbols.replace(/(.)-(.)/g, (_range, first: string, last: string) => {
    const from = first.charCodeAt(0);
    return String.fromCharCode(...Array.from({ length: last.charCodeAt(0) - from + 1 }, (_, i) => from + i));
  });
}

function crockfordCodec(natural: CodecForm, padded: CodecForm): CrockfordCodec {
  const longest = 2 * padded.width;
  const lenientLegal =
    `${natural.legal}; also lower case, I and L for 1, O for 0, hyphens and leading zeros, in at most ${longest} ` +
    `characters`;
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

/** Changes the case of ASCII letters only: `toUpperCase` would make a dotless i an I. */
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
    legal: `${form.legal}, then the check symbol, which must match (it catches typing errors)`,
    format: (id) => form.format(id) + checkOf(id),
    parse: (text) => {
      const id = form.parse(text.slice(0, -1));
      return id !== undefined && text.endsWith(checkOf(id)) ? id : undefined;
    },
  };
}

/** Non-negative integers in positional notation: the arithmetic below the codecs, without their strictness. */
interface PositionalDigits {
  /** Without leading zeros; zero is one digit. For values of at most 66 bits. */
  readonly format: (value: bigint) => string;
  /** Undefined when the text is empty or has a foreign character. For texts of at most 19 digits. */
  readonly parse: (text: string) => bigint | undefined;
}

/** @param alphabet the digits from zero up, at most 64 different ASCII characters */
function positionalDigits(alphabet: string): PositionalDigits {
  const base = alphabet.length;
  const split = BigInt(base) ** BigInt(SPLIT);
  const digitOf = new Uint8Array(128).fill(NO_DIGIT);
  for (let digit = 0; digit < base; digit++) digitOf[alphabet.charCodeAt(digit)] = digit;

  const write = (value: number, atLeast: number): string => {
    let text = '';
    for (let rest = value; rest > 0 || text.length < atLeast;) {
      const next = Math.floor(rest / base);
      text = alphabet[rest - next * base]! + text;
      rest = next;
    }
    return text;
  };

  // One division of a bigint, and not one a digit: that takes two thirds of the time (base62: 125 instead of 185 ns).
  const format = (value: bigint): string => {
    const high = value / split;
    const low = Number(value - high * split);
    return high === 0n ? write(low, 1) : write(Number(high), 1) + write(low, SPLIT);
  };

  const parse = (text: string): bigint | undefined => {
    if (text === '') return undefined;
    const border = text.length - SPLIT;
    let high = 0;
    let low = 0;
    for (let i = 0; i < text.length; i++) {
      const digit = digitOf[text.charCodeAt(i)] ?? NO_DIGIT;
      if (digit === NO_DIGIT) return undefined;
      if (i < border) high = high * base + digit;
      else low = low * base + digit;
    }
    return BigInt(high) * split + BigInt(low);
  };

  // Where JavaScript knows the alphabet, its own conversion is the fastest (decimal 36 ns, base36 64 ns).
  return NATIVE_SYMBOLS.startsWith(alphabet) ? { format: (value) => value.toString(base), parse } : { format, parse };
}
