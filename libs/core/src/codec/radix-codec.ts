import { defineCodec, type CodecForm, type IdCodec } from './id-codec.js';
import { MAX_ID } from './max-id.js';
import { positionalDigits } from './positional-digits.js';

/** A codec that writes the ID as a number: naturally, without leading zeros, or padded to a fixed width. */
export interface RadixCodec extends IdCodec {
  /**
   * The same digits with leading zeros up to `width`: sorts as text where the alphabet is in ASCII order
   * (`padded.sortable`). Neither form accepts the texts of the other.
   */
  readonly padded: IdCodec;
}

/** @param symbols the digits from zero up as a character class: `0-9a-f` */
export function radixCodec(name: string, symbols: string): RadixCodec {
  const { natural, padded } = radixForms(name, symbols);
  return Object.freeze({ ...defineCodec(natural), padded: defineCodec(padded) });
}

/** Both forms of a radix, for codecs that add something to the digits. */
export function radixForms(name: string, symbols: string): { natural: CodecForm; padded: CodecForm } {
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
      legal: `1 to ${width} characters of ${symbols}, none of them a leading ${zero}, up to ${largest} (2^63 - 1)`,
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
