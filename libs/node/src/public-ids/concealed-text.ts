import { InvalidIdError, type IdCodec } from '@raindrop/core';
import type { PublicIdBits } from './bit-permutation.js';

/** Concealed numbers as text of fixed width. */
export interface ConcealedText {
  readonly width: number;
  readonly write: (concealed: bigint) => string;
  /** Undefined when the text is not what `write` gives for some number. */
  readonly read: (text: string) => bigint | undefined;
}

/**
 * @param codec positional and of fixed width; the zeros that all numbers of so many bits begin with are left out
 */
export function concealedText(codec: IdCodec, bits: PublicIdBits): ConcealedText {
  const end = 2n ** BigInt(bits);
  const lead = commonStart(codec.encode(0n), codec.encode(end - 1n));
  return {
    width: codec.width - lead.length,
    write: (concealed) => codec.encode(concealed).slice(lead.length),
    read: (text) => {
      try {
        const concealed = codec.decode(lead + text);
        return concealed < end ? concealed : undefined;
      } catch (error) {
        if (error instanceof InvalidIdError) return undefined;
        throw error;
      }
    },
  };
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}
