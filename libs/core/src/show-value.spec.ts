import { showValue } from './show-value.js';

describe('showValue', () => {
  it.each([
    ['abc', '"abc"'],
    ['say "hi" \\ \n', '"say \\"hi\\" \\\\ \\n"'],
    ['\u001b[31m\u202e\u2028é\ud83d', '"\\u001b[31m\\u202e\\u2028\\u00e9\\ud83d"'],
    ['x'.repeat(49), `"${'x'.repeat(48)}"... (49 characters)`],
    [12n, '12n'],
    [-12n, '-12n'],
    [1n << 100_000n, 'a bigint of more than 30 digits'],
    [-(1n << 100_000n), 'a bigint of more than 30 digits'],
    [1.5, '1.5'],
    [NaN, 'NaN'],
    [true, 'true'],
    [undefined, 'undefined'],
    [null, 'null'],
    [Symbol('secret'), 'a symbol'],
    [() => 1, 'a function'],
    [['a'], 'an array'],
    [{ password: 'secret' }, 'an object'],
  ])('shows row %# shortly and in plain ASCII', (value, shown) => {
    expect(showValue(value)).toBe(shown);
  });

  it('runs no code of the value', () => {
    const fail = (): never => {
      throw new Error('was run');
    };
    expect(showValue({ toString: fail, toJSON: fail, [Symbol.toPrimitive]: fail })).toBe('an object');
  });
});
