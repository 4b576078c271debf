import fc from 'fast-check';
import { base32, base32Check } from './codecs.js';
import { InvalidIdError, MAX_ID } from './id-codec.js';
import { caught, EDGES } from '../../../../test/support/engine/caught.js';

const anyId = fc.oneof(fc.constantFrom(...EDGES), fc.bigInt({ min: 0n, max: MAX_ID }));

const SYMBOLS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ*~$=U';

/** The remainder by schoolbook division of the decimal digits: nothing in common with the code. */
const checkOf = (id: bigint): string => {
  let remainder = 0;
  for (const digit of id.toString()) remainder = (remainder * 10 + Number(digit)) % 37;
  return SYMBOLS.charAt(remainder);
};

describe('base32', () => {
  it.each([
    // Encode::Base32::Crockford (Perl), base32-crockford (Python), base32_crockford (Elixir), crockford (Ruby).
    [1234n, '16J'],
    [42n, '1A'],
    [1_000_000_000n, 'XSNJG0'],
    [1_234_567_890n, '14SC0PJ'],
    [0n, '0'],
    [31n, 'Z'],
    [32n, '10'],
  ])('writes %s as %s', (id, text) => {
    expect(base32.encode(id)).toBe(text);
    expect(base32.decode(text)).toBe(id);
  });

  it.each([
    ['16j', 1234n],
    ['0016J', 1234n],
    ['IO', 32n],
    ['lo', 32n],
    ['io', 32n],
    ['14S-C0PJ', 1_234_567_890n],
    ['1-4-S-C-0-P-J-', 1_234_567_890n],
    ['00000-0000-016J', 1234n],
    ['7zzz-zzzz-zzzzz', MAX_ID],
  ])('leniently reads %s, which a person may type', (text, id) => {
    expect(base32.decodeLenient(text)).toBe(id);
    expect(() => base32.decode(text)).toThrow(InvalidIdError);
  });

  it.each([
    '',
    '-',
    '---',
    '8000000000000',
    '00000000000016J',
    ' 16J',
    '16J\n',
    '1u',
    'U',
    '1*',
    '\u0131o',
    '1\u017f',
    '\uff11',
  ])('even leniently refuses %j', (text) => {
    const error = caught(InvalidIdError, () => base32.decodeLenient(text));
    expect(error).toMatchObject({ codec: 'base32', given: expect.stringMatching(/^"/) as string });
  });

  it.each([undefined, null, 1234, 1234n, {}, ['16J']])('even leniently refuses %p', (text) => {
    expect(() => base32.decodeLenient(text as string)).toThrow(InvalidIdError);
  });

  it('leniently reads up to twice its width, hyphens included', () => {
    expect(base32.decodeLenient(`16J${'-'.repeat(23)}`)).toBe(1234n);
    expect(() => base32.decodeLenient(`16J${'-'.repeat(24)}`)).toThrow(/in 26 characters at most/);
  });

  it('even leniently refuses a million hyphens or zeros with a short message', () => {
    for (const symbol of ['-', '0']) {
      const error = caught(InvalidIdError, () => base32.decodeLenient(symbol.repeat(1_000_000)));
      expect(error.message.length).toBeLessThan(400);
    }
  });
});

describe('base32Check', () => {
  it.each([
    [1234n, '16JD'],
    [42n, '1A5'],
    [0n, '00'],
    [31n, 'ZZ'],
    [32n, '10*'],
    [33n, '11~'],
    [34n, '12$'],
    [35n, '13='],
    [36n, '14U'],
    [37n, '150'],
  ])('writes %s as %s', (id, text) => {
    expect(base32Check.encode(id)).toBe(text);
    expect(base32Check.decode(text)).toBe(id);
  });

  it('ends with the remainder of the ID modulo 37', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        expect(base32Check.encode(id)).toBe(base32.encode(id) + checkOf(id));
        expect(base32Check.padded.encode(id)).toBe(base32.padded.encode(id) + checkOf(id));
      }),
    );
  });

  it('finds every wrong character', () => {
    fc.assert(
      fc.property(anyId, fc.nat(13), fc.constantFrom(...SYMBOLS), (id, at, symbol) => {
        const text = base32Check.padded.encode(id);
        const wrong = text.slice(0, at) + symbol + text.slice(at + 1);
        fc.pre(wrong !== text);
        expect(() => base32Check.padded.decode(wrong)).toThrow(InvalidIdError);
      }),
    );
  });

  it('finds every swap of two neighbours', () => {
    fc.assert(
      fc.property(anyId, fc.nat(12), (id, at) => {
        const text = base32Check.padded.encode(id);
        const wrong = text.slice(0, at) + text.charAt(at + 1) + text.charAt(at) + text.slice(at + 2);
        fc.pre(wrong !== text);
        expect(() => base32Check.padded.decode(wrong)).toThrow(InvalidIdError);
      }),
    );
  });

  it.each([
    ['16jd', 1234n],
    ['16-J-D', 1234n],
    ['14u', 36n],
    ['la5', 42n],
  ])('leniently reads %s', (text, id) => {
    expect(base32Check.decodeLenient(text)).toBe(id);
  });

  it('requires the check symbol and wants it right, leniently too', () => {
    for (const text of ['16J', '16JE', '16JD*', '16J*D', '*', 'D']) {
      expect(() => base32Check.decode(text)).toThrow(InvalidIdError);
      expect(() => base32Check.decodeLenient(text)).toThrow(InvalidIdError);
    }
    expect(() => base32Check.decode('0')).toThrow(InvalidIdError);
  });
});
