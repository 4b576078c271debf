import { base32, base64Digits, type CodecName, codecs } from '../codec/codecs.js';

/** The form in which a recognised ID is written: a codec's name, or a form that is only read. */
export type WrittenForm = CodecName | 'hex-0x' | 'hex-upper' | 'signed' | 'base32-lenient' | 'shortcode';

/** One ID that a text can stand for. */
export interface WrittenId {
  readonly id: bigint;
  readonly form: WrittenForm;
  /** The prefix of a typed text. */
  readonly prefix?: string;
  /** How often IDs are written in this form, compared with the other forms. */
  readonly weight: number;
  /** The only system that uses this form. */
  readonly system?: string;
}

const LARGEST = 2n ** 64n;

/** The codecs in the order in which they are tried: where two read the same ID, the first one names the form. */
const WEIGHTS: readonly (readonly [CodecName, number])[] = [
  ['hex', 1],
  ['hex-padded', 1],
  ['base62-padded', 1],
  ['base62', 1],
  ['base36', 0.5],
  ['base36-padded', 0.5],
  ['base32-padded', 0.5],
  ['base32', 0.5],
  ['base32-check', 0.5],
  ['base32-check-padded', 0.5],
  ['base58', 0.2],
  ['base58-padded', 0.2],
  ['base64url', 0.2],
  ['base62-lower-first', 0.05],
  ['base62-lower-first-padded', 0.05],
];

/** Thirteen digits with hyphens between them. */
const LONGEST_TYPED = 17;

/** The factor of a text of digits only: it is nearly always decimal, but hex without a letter is possible. */
const DIGITS_ONLY = 1e-9;

/** The factor of a text without a digit: it is more often a word. */
const LETTERS_ONLY = 0.02;

/** A smaller number written with letters is a word: only IDs from the first minutes after an epoch are that small. */
const LEAST_LETTERED = 2n ** 42n;

/**
 * A larger negative number is none: as an unsigned number of 64 bits it would be an ID of the last quarter, after 2062 in
 * every system.
 */
const LARGEST_SIGNED = -(2n ** 62n);

/** A date such as `2026-11-25`, or a telephone number. */
const HYPHENATED_DIGITS = /^\d+(-\d+)+$/;

const TYPED = /^([a-z](?:[a-z0-9_]{0,29}[a-z0-9])?)_([0-9A-Za-z-]{1,19})$/;

/** Every ID that a text can stand for: at most one for each value and system. */
export function writtenIds(text: string): readonly WrittenId[] {
  if (HYPHENATED_DIGITS.test(text)) return [];
  if (/^-\d+$/.test(text)) return decimals(text);
  const isDigits = /^\d+$/.test(text);
  const typed = TYPED.exec(text);
  const found = [
    ...(isDigits ? decimals(text) : []),
    ...withLetters(text, isDigits ? DIGITS_ONLY : /\d/.test(text) ? 1 : LETTERS_ONLY),
    ...shortcodes(text),
    ...(typed === null ? [] : typedIds(typed[1]!, typed[2]!)),
  ];
  const keys = found.map(({ id, system }) => `${id} ${system ?? ''}`);
  return found.filter((_, index) => keys.indexOf(keys[index]!) === index);
}

function decimals(text: string): readonly WrittenId[] {
  if (text.length > 20) return [];
  if (text.startsWith('-')) {
    const value = BigInt(text);
    return value < -(2n ** 63n) || value > LARGEST_SIGNED
      ? []
      : [{ id: BigInt.asUintN(64, value), form: 'signed', weight: 1 }];
  }
  const id = BigInt(text);
  const isPadded = text.length > 1 && text.startsWith('0');
  if (id >= LARGEST || (isPadded && text.length !== 19)) return [];
  return [{ id, form: isPadded ? 'decimal-padded' : 'decimal', weight: 1 }];
}

function withLetters(text: string, factor: number): readonly WrittenId[] {
  return inAnyCodec(text)
    .filter(({ id, form }) => id >= LEAST_LETTERED || form === 'hex-0x')
    .map((each) => ({ ...each, weight: each.weight * factor }));
}

function inAnyCodec(text: string): readonly WrittenId[] {
  const prefixed = /^0x([0-9a-f]{1,16})$/i.exec(text);
  if (prefixed !== null) return [{ id: BigInt(`0x${prefixed[1]}`), form: 'hex-0x', weight: 10 }];
  const found: WrittenId[] = WEIGHTS.filter(([form]) => canBe(form, text)).flatMap(([form, weight]) =>
    decodeWith(codecs[form].decode, text, form, weight),
  );
  // No codec reads 64 bits or upper case.
  if (/^[0-9a-f]{16}$/i.test(text)) found.push({ id: BigInt(`0x${text}`), form: 'hex-upper', weight: 0.5 });
  else if (/^[0-9A-F]{12,15}$/.test(text)) found.push({ id: BigInt(`0x${text}`), form: 'hex-upper', weight: 0.5 });
  // A person who types an ID keeps to one case.
  const isOneCase = text === text.toUpperCase() || text === text.toLowerCase();
  return isOneCase && text.length <= LONGEST_TYPED
    ? [...found, ...decodeWith(base32.decodeLenient, text, 'base32-lenient', 0.1)]
    : found;
}

/** Instagram's: base64url of the number, without leading zeros. */
function shortcodes(text: string): readonly WrittenId[] {
  if (!/^[B-Za-z0-9_-][\w-]{8,10}$/.test(text)) return [];
  const id = base64Digits.parse(text)!;
  return id < LARGEST ? [{ id, form: 'shortcode', weight: 10, system: 'instagram' }] : [];
}

function typedIds(prefix: string, payload: string): readonly WrittenId[] {
  const found = [...(/^\d+$/.test(payload) ? decimals(payload) : []), ...withLetters(payload, 1)];
  return found.map((each) => ({ ...each, prefix }));
}

/** Compares lengths before decoding: an error with its message takes longer than all decoding. */
function canBe(form: CodecName, text: string): boolean {
  const { width } = codecs[form];
  return form.endsWith('-padded') ? text.length === width : text.length <= width;
}

function decodeWith(decode: (text: string) => bigint, text: string, form: WrittenForm, weight: number): WrittenId[] {
  try {
    return [{ id: decode(text), form, weight }];
  } catch {
    return [];
  }
}
