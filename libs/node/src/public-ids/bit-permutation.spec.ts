import { createCipheriv } from 'node:crypto';
import { FF1 } from '@noble/ciphers/ff1.js';
import fc from 'fast-check';
import { runs } from '../../../../test/tier.js';
import { bitPermutation, type PublicIdBits } from './public-ids.js';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
const KEY = bytes('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f');
const TWEAK = Uint8Array.from(Buffer.from('order'));

const FORMS: readonly [bits: PublicIdBits, radix: number][] = [
  [53, 9_742],
  [63, 55_109],
];

/** FF1 of SP 800-38G, written down once more from its text, over Node's own AES. For four digits and short tweaks. */
function referenceFf1(key: Uint8Array, radix: number, tweak: Uint8Array, value: bigint): bigint {
  const half = BigInt(radix) ** 2n;
  const b = Math.ceil((half - 1n).toString(2).length / 8);
  const d = 4 * Math.ceil(b / 4) + 4;
  const p = Buffer.from([1, 2, 1, 0, 0, 0, 10, 2, 0, 0, 0, 4, 0, 0, 0, tweak.length]);
  p.writeUIntBE(radix, 3, 3);
  let [left, right] = [value / half, value % half];
  for (let round = 0; round < 10; round++) {
    const padding = Buffer.alloc((((-tweak.length - b - 1) % 16) + 16) % 16);
    const number = Buffer.from(right.toString(16).padStart(2 * b, '0'), 'hex');
    const cipher = createCipheriv(`aes-${8 * key.length}-cbc`, key, Buffer.alloc(16)).setAutoPadding(false);
    const macs = cipher.update(Buffer.concat([p, tweak, padding, Buffer.from([round]), number]));
    const y = BigInt(`0x${macs.subarray(-16).subarray(0, d).toString('hex')}`);
    [left, right] = [right, (left + y) % half];
  }
  return left * half + right;
}

function differingBits(a: bigint, b: bigint): number {
  return (a ^ b).toString(2).replaceAll('0', '').length;
}

describe('FF1 of the library', () => {
  const short = '2b7e151628aed2a6abf7158809cf4f3c';
  const middle = `${short}ef4359d8d580aa4f`;
  const long = `${middle}7f036d6f04fc6a94`;
  const decimal = '39383736353433323130';
  const letters = '3737373770717273373737';

  // The sample data that NIST publishes beside SP 800-38G.
  it.each([
    [1, short, 10, '', '0123456789', '2433477484'],
    [2, short, 10, decimal, '0123456789', '6124200773'],
    [3, short, 36, letters, '0123456789abcdefghi', 'a9tv40mll9kdu509eum'],
    [4, middle, 10, '', '0123456789', '2830668132'],
    [5, middle, 10, decimal, '0123456789', '2496655549'],
    [6, middle, 36, letters, '0123456789abcdefghi', 'xbj3kv35jrawxv32ysr'],
    [7, long, 10, '', '0123456789', '6657667009'],
    [8, long, 10, decimal, '0123456789', '1001623463'],
    [9, long, 36, letters, '0123456789abcdefghi', 'xs8a0azh2avyalyzuwd'],
  ])("gives NIST's sample %i", (_, key, radix, tweak, plain, concealed) => {
    const cipher = FF1(radix, bytes(key), bytes(tweak));
    const digits = (text: string): number[] => [...text].map((digit) => parseInt(digit, radix));
    expect(cipher.encrypt(digits(plain))).toEqual(digits(concealed));
    expect(cipher.decrypt(digits(concealed))).toEqual(digits(plain));
  });
});

describe.each(FORMS)('The permutation of %i bits', (bits, radix) => {
  const limit = 2n ** BigInt(bits);
  const { conceal, reveal } = bitPermutation(bits, KEY, TWEAK);
  const anyId = fc.oneof(
    fc.constantFrom(0n, 1n, 2n, limit / 2n - 1n, limit / 2n, limit - 2n, limit - 1n),
    fc.bigInt({ min: 0n, max: limit - 1n }),
  );

  it('has the smallest radix of which four digits hold them', () => {
    expect(BigInt(radix) ** 4n).toBeGreaterThanOrEqual(limit);
    expect(BigInt(radix - 1) ** 4n).toBeLessThan(limit);
  });

  it('stays within them and comes back, from either side', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const concealed = conceal(id);
        return concealed >= 0n && concealed < limit && reveal(concealed) === id && conceal(reveal(id)) === id;
      }),
      { numRuns: runs(500, 100) },
    );
  });

  it.each([16, 24, 32])('is FF1 as the standard has it, with a key of %i bytes', (size) => {
    const key = KEY.subarray(32 - size);
    const permutation = bitPermutation(bits, key, TWEAK);
    fc.assert(
      fc.property(anyId, (id) => {
        let expected = referenceFf1(key, radix, TWEAK, id);
        while (expected >= limit) expected = referenceFf1(key, radix, TWEAK, expected);
        return permutation.conceal(id) === expected;
      }),
    );
  });

  it('takes another step where the four digits hold more than the bits', () => {
    const { decrypt } = FF1(radix, KEY, TWEAK);
    const [base, square] = [BigInt(radix), BigInt(radix) ** 2n];
    const above = [limit, limit + 1n, limit + 12_345n, square * square - 1n];
    for (const outside of above) {
      const digits = [outside / square / base, (outside / square) % base, (outside % square) / base, outside % base];
      const id = decrypt(digits.map(Number)).reduce((sum, digit) => sum * base + BigInt(digit), 0n);
      expect(id).toBeLessThan(limit);
      expect(referenceFf1(KEY, radix, TWEAK, id)).toBe(outside);
      expect(conceal(id)).toBe(referenceFf1(KEY, radix, TWEAK, outside));
      expect(reveal(conceal(id))).toBe(id);
    }
  });

  it('gives neighbours numbers that differ in half of the bits, each bit as often as not', () => {
    const count = runs(2_000, 500);
    const start = limit / 3n;
    const concealed = Array.from({ length: count + 1 }, (_, index) => conceal(start + BigInt(index)));
    const flips = concealed.slice(1).reduce((sum, each, index) => sum + differingBits(each, concealed[index]!), 0);
    // Five standard deviations of a fair coin.
    expect(Math.abs(flips / count - bits / 2)).toBeLessThan((5 * Math.sqrt(bits)) / 2 / Math.sqrt(count));
    const ones = Array.from(
      { length: bits },
      (_, bit) => concealed.filter((each) => (each >> BigInt(bit)) & 1n).length,
    );
    const chiSquare = ones.reduce((sum, each) => sum + (each - (count + 1) / 2) ** 2 / ((count + 1) / 4), 0);
    expect(Math.abs(chiSquare - bits)).toBeLessThan(5 * Math.sqrt(2 * bits));
    expect(new Set(concealed).size).toBe(concealed.length);
  });

  it.each<[string, Uint8Array, Uint8Array]>([
    ['another key', KEY.map((byte, index) => (index === 31 ? byte ^ 1 : byte)), TWEAK],
    ['another tweak', KEY, Uint8Array.from(Buffer.from('ordes'))],
    ['no tweak', KEY, new Uint8Array()],
  ])('has nothing to do with that of %s', (_, key, tweak) => {
    const other = bitPermutation(bits, key, tweak);
    const ids = Array.from({ length: runs(1_000, 250) }, (_, index) => BigInt(index) * 1_000_003n);
    const mean = ids.reduce((sum, id) => sum + differingBits(conceal(id), other.conceal(id)), 0) / ids.length;
    expect(Math.abs(mean - bits / 2)).toBeLessThan((5 * Math.sqrt(bits)) / 2 / Math.sqrt(ids.length));
    expect(ids.filter((id) => other.reveal(conceal(id)) === id)).toEqual([]);
  });
});
