import { defineCodec } from './id-codec.js';
import { MAX_ID } from './max-id.js';
import { radixForms, type RadixCodec } from './radix-codec.js';

const MAX_ID_TEXT = String(MAX_ID);

const forms = radixForms('decimal', '0-9');

/** Decimal digits: the form for JSON and databases; at most 19, or exactly 19 padded. */
export const decimal: RadixCodec = Object.freeze({
  ...defineCodec({ ...forms.natural, parse: (text) => (isDecimalId(text) ? BigInt(text) : undefined) }),
  padded: defineCodec(forms.padded),
});

/**
 * Reads an ID from a route, a query or a JSON string: ASCII digits only, no sign, no white space, no leading zeros.
 *
 * @throws InvalidIdError when `text` is not the decimal form of an ID from 0 to 2^63 - 1
 */
export function parseDecimal(text: string): bigint {
  return decimal.decode(text);
}

/**
 * Whether `text` is the decimal form of an ID. Computes nothing: `BigInt()` of a million digits would block the event
 * loop for some 90 ms, and texts of equal length compare like their numbers.
 */
export function isDecimalId(text: string): boolean {
  return /^(?:0|[1-9]\d{0,18})$/.test(text) && (text.length < MAX_ID_TEXT.length || text <= MAX_ID_TEXT);
}
