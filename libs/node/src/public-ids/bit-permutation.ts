import { FF1 } from '@noble/ciphers/ff1.js';

/** The number of bits that a public ID can have: those of a JavaScript number, or those of an ID. */
export type PublicIdBits = 53 | 63;

/**
 * The smallest radix of which four digits hold so many bits. FF1 costs by the digit: 63 bits take 73 µs as 63 digits of
 * 2, 35 as 7 of 512, 30 as these 4. 53 is prime, so that only digits of 2 fit exactly (69 µs, against 32).
 */
const RADIX: Readonly<Record<PublicIdBits, number>> = { 53: 9_742, 63: 55_109 };

/** A keyed one-to-one mapping of the numbers of so many bits onto themselves. */
export interface BitPermutation {
  readonly conceal: (id: bigint) => bigint;
  readonly reveal: (concealed: bigint) => bigint;
}

/**
 * FF1 of NIST SP 800-38G over four digits, which hold a few millionths more than the numbers of `bits` bits. What comes
 * out above them is put in again until it is below: that walks along a cycle of the permutation and so ends at the
 * latest where it began, and it is a permutation of exactly those bits. One number in 160,000 (53 bits) or 33,000
 * (63 bits) needs a second step.
 *
 * @param key 16, 24 or 32 bytes, which nobody may change afterwards
 */
export function bitPermutation(bits: PublicIdBits, key: Uint8Array, tweak: Uint8Array): BitPermutation {
  const radix = RADIX[bits];
  const square = BigInt(radix) ** 2n;
  const limit = 2n ** BigInt(bits);
  const cipher = FF1(radix, key, tweak);

  const toDigits = (value: bigint): number[] => {
    const high = Number(value / square);
    const low = Number(value % square);
    return [Math.floor(high / radix), high % radix, Math.floor(low / radix), low % radix];
  };
  const toNumber = ([a, b, c, d]: readonly number[]): bigint =>
    BigInt(a! * radix + b!) * square + BigInt(c! * radix + d!);
  const walk =
    (step: (digits: number[]) => number[]) =>
    (value: bigint): bigint => {
      let digits = toDigits(value);
      for (;;) {
        digits = step(digits);
        const result = toNumber(digits);
        if (result < limit) return result;
      }
    };
  return { conceal: walk((digits) => cipher.encrypt(digits)), reveal: walk((digits) => cipher.decrypt(digits)) };
}
