import fc from 'fast-check';
import { caught } from '../../../../test/support/engine/caught.js';
import { InvalidIdError } from './id-codec.js';
import { toUnsignedId } from './to-id.js';

describe('an unsigned ID', () => {
  it.each([
    [0n, 0n],
    ['0', 0n],
    [2 ** 53 - 1, 9_007_199_254_740_991n],
    ['9223372036854775808', 2n ** 63n],
    [2n ** 63n, 2n ** 63n],
    ['18446744073709551615', 2n ** 64n - 1n],
    [2n ** 64n - 1n, 2n ** 64n - 1n],
  ])('is read from %p', (given, id) => expect(toUnsignedId(given)).toBe(id));

  it('is read from the text that it has', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (id) => toUnsignedId(String(id)) === id),
      { numRuns: 1_000 },
    );
  });

  it.each([
    [-1n],
    [2n ** 64n],
    ['18446744073709551616'],
    ['28446744073709551615'],
    ['100000000000000000000'],
    ['-1'],
    ['01'],
    ['1.0'],
    ['0x10'],
    [' 1'],
    [''],
    ['１'],
    [2 ** 53],
    [-1],
    [1.5],
    [Number.NaN],
    [null],
    [undefined],
    [{}],
    [['1']],
  ])('is not %p', (given: unknown) => {
    const error = caught(InvalidIdError, () => toUnsignedId(given as string));
    expect(error).toMatchObject({ errorCode: 'INVALID_ID', retryable: false });
    expect(error.message).toContain('from 0 to 18446744073709551615');
  });

  it('is not computed from a million digits', () => {
    const computed = jest.spyOn(globalThis, 'BigInt');
    expect(() => toUnsignedId('9'.repeat(1_000_000))).toThrow(InvalidIdError);
    expect(computed).not.toHaveBeenCalled();
    toUnsignedId('1');
    expect(computed).toHaveBeenCalledTimes(1);
    computed.mockRestore();
  });
});
