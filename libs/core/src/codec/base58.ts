import { radixCodec } from './radix-codec.js';

/**
 * The alphabet of Bitcoin, without 0, O, I and l: at most 11 characters, or exactly 11 padded (with `1`, its zero),
 * which sorts. It writes the number, not eight bytes: libraries for bytes put a `1` before it for each leading zero
 * byte. Case matters: not for columns whose collation ignores it.
 */
export const base58 = radixCodec('base58', '1-9A-HJ-NP-Za-km-z');
