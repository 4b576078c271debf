import { defineCodec } from './id-codec.js';
import { positionalDigits } from './positional-digits.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const WIDTH = 11;

const digits = positionalDigits(ALPHABET);

/**
 * The ID as eight big-endian bytes in base64url without padding (RFC 4648, section 5), as every library for bytes
 * writes it: always 11 characters. Does not sort: `-` and the digits stand before the letters in ASCII, after them here.
 *
 * Eleven characters hold 66 bits, eight bytes 64: the text is the ID times four, and the two bits that are left over
 * must be zero, so that an ID has one text (RFC 4648, section 3.5).
 */
export const base64url = defineCodec({
  name: 'base64url',
  width: WIDTH,
  sortable: false,
  legal: `exactly ${WIDTH} characters of A-Za-z0-9-_ that hold the eight bytes of a number up to 2^63 - 1, no padding`,
  format: (id) => digits.format(id << 2n).padStart(WIDTH, 'A'),
  parse: (text) => {
    const padded = text.length === WIDTH ? digits.parse(text) : undefined;
    return padded === undefined || (padded & 3n) !== 0n ? undefined : padded >> 2n;
  },
});
