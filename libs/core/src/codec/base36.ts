import { radixCodec } from './radix-codec.js';

/** Digits and lower-case letters, as `bigint.toString(36)`: at most 13, or exactly 13 padded, which sorts. */
export const base36 = radixCodec('base36', '0-9a-z');
