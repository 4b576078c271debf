import { InvalidIdError, MAX_ID } from './id-codec.js';
import { caught } from '../../../../test/support/engine/caught.js';
import { toId } from './to-id.js';

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
      /1541815603606036500.*already lost digits: keep IDs as bigint or string/,
    );
  });
});
