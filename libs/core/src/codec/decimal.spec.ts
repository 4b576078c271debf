import { decimal } from './codecs.js';
import { InvalidIdError, MAX_ID } from './id-codec.js';

describe('The decimal codec', () => {
  it.each(['0', '1', '9', '10', '9007199254740993', '999999999999999999', '9223372036854775807'])(
    'reads %s',
    (text) => {
      expect(decimal.decode(text)).toBe(BigInt(text));
    },
  );

  it.each([
    ...[
      '',
      '00',
      '01',
      '-0',
      '-1',
      '+1',
      ' 1',
      '1 ',
      '1\n',
      '\t1',
      '1.0',
      '1e3',
      '1_000',
      '1,000',
      '1n',
      '0x10',
      '0b1',
      '0o7',
    ],
    ...[
      '9223372036854775808',
      '9999999999999999999',
      '10000000000000000000',
      '\u0661',
      '\uff11',
      'NaN',
      'abc',
      '__proto__',
    ],
  ])('refuses %j', (text) => {
    expect(() => decimal.decode(text)).toThrow(InvalidIdError);
  });

  it.each([undefined, null, 1, 1n, ['1'], { toString: () => '1' }, new String('1')])('refuses %p', (value) => {
    expect(() => decimal.decode(value as string)).toThrow(InvalidIdError);
  });

  it('reads what is one below, and refuses what is one above, the largest ID', () => {
    expect(decimal.decode(String(MAX_ID - 1n))).toBe(MAX_ID - 1n);
    expect(() => decimal.decode(String(MAX_ID + 1n))).toThrow(/up to 9223372036854775807 \(2\^63 - 1\)/);
  });
});
