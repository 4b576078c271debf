import { radixCodec } from './radix-codec.js';

/** Lower-case hexadecimal without `0x`: at most 16 digits, or exactly 16 padded, which sorts. */
export const hex = radixCodec('hex', '0-9a-f');
