import fc from 'fast-check';
import { compareIds, type IdLike } from './to-id.js';
import { InvalidIdError, MAX_ID } from './id-codec.js';
import { EDGES } from '../../../../test/support/engine/caught.js';

const anyId = fc.oneof(fc.constantFrom(...EDGES), fc.bigInt({ min: 0n, max: MAX_ID }));

/** The same ID in every type that can hold it. */
const typesOf = (id: bigint): IdLike[] => [id, String(id), ...(id < 2n ** 53n ? [Number(id)] : [])];

describe('compareIds', () => {
  it('orders strings of different lengths by value', () => {
    expect(['10', '9', '100', '0', '99', String(MAX_ID), '1'].sort(compareIds)).toEqual([
      '0',
      '1',
      '9',
      '10',
      '99',
      '100',
      String(MAX_ID),
    ]);
  });

  it('orders mixed types by value', () => {
    const ids: IdLike[] = ['30', 4n, 200, '5', 1n, String(MAX_ID), 0];
    expect(ids.sort(compareIds)).toEqual([0, 1n, 4n, '5', '30', 200, String(MAX_ID)]);
  });

  it('agrees with bigints for every pair of types', () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        const expected = a < b ? -1 : a > b ? 1 : 0;
        for (const left of typesOf(a)) {
          for (const right of typesOf(b)) expect(compareIds(left, right)).toBe(expected);
          for (const same of typesOf(a)) expect(compareIds(left, same)).toBe(0);
        }
      }),
    );
  });

  it.each([
    '',
    '01',
    '-1',
    ' 1',
    'abc',
    '9223372036854775808',
    '1'.repeat(1_000_000),
    -1n,
    -1,
    0.5,
    2 ** 53,
    NaN,
    null,
    {},
  ])('refuses rubbish on either side (%#)', (rubbish) => {
    for (const id of [1n, '1', 1]) {
      expect(() => compareIds(rubbish as IdLike, id)).toThrow(InvalidIdError);
      expect(() => compareIds(id, rubbish as IdLike)).toThrow(InvalidIdError);
    }
  });
});
