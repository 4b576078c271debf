import { radixCodec } from './radix-codec.js';

/**
 * Digits, upper case, lower case: at most 11 characters, or exactly 11 padded, which sorts, for the alphabet is in
 * ASCII order. Case matters: in a column whose collation ignores it (MariaDB's default) two IDs can be one key.
 */
export const base62 = radixCodec('base62', '0-9A-Za-z');

/** Digits, lower case, upper case: for interchange with systems that use this order. Does not sort, padded or not. */
export const base62LowerFirst = radixCodec('base62-lower-first', '0-9a-zA-Z');
