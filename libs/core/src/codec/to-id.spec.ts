import fc from 'fast-check';
import { caught, EDGES } from '../../../../test/support/engine/caught.js';
import { InvalidIdError, MAX_ID } from './id-codec.js';
import { compareIds, type IdLike, toId, toUnsignedId } from './to-id.js';
import type * as ToId from './to-id.js';

describe('toId', () => {
  it.each([
    [0n, 0n],
    [MAX_ID, MAX_ID],
    ['0', 0n],
    ['9223372036854775807', MAX_ID],
    [0, 0n],
    [-0, 0n],
    [Number.MAX_SAFE_INTEGER, 2n ** 53n - 1n],
  ])('makes a bigint of %p', (value, id) => {
    expect(toId(value)).toBe(id);
  });

  it.each([
    ...[-1n, MAX_ID + 1n, '-1', '', '01', '1.0', '9223372036854775808', ' 1', '0x1', 'base62'],
    ...[-1, 0.5, 2 ** 53, 1e21, NaN, Infinity, -Infinity],
    ...[
      undefined,
      null,
      true,
      {},
      [],
      ['1'],
      { valueOf: () => 1 },
      new Date(0),
      Object(1n) as unknown,
      Symbol('1'),
      () => 1n,
    ],
  ])('refuses %p', (value) => {
    const error = caught(InvalidIdError, () => toId(value as bigint));
    expect(error).toMatchObject({ errorCode: 'INVALID_ID', retryable: false });
  });

  it('says of an unsafe number that its digits are lost already', () => {
    expect(() => toId(1541815603606036481)).toThrow(
      /1541815603606036500.*have lost digits: keep IDs as bigint or string/,
    );
  });
});

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
    // A module has the globals of the moment when it is loaded.
    jest.isolateModules(() => {
      const { toUnsignedId: anew } = jest.requireActual<typeof ToId>('./to-id.js');
      computed.mockClear();
      expect(() => anew('9'.repeat(1_000_000))).toThrow(InvalidIdError);
      expect(computed).not.toHaveBeenCalled();
      anew('1');
      expect(computed).toHaveBeenCalledTimes(1);
    });
    computed.mockRestore();
  });
});

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
