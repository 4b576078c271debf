import fc from 'fast-check';
import { caught, EDGES } from '../../../../test/support/engine/caught.js';
import { base32, base32Check, base58, base64url, type CodecName, codecs, decimal, isCodecName } from './codecs.js';
import { InvalidIdError, MAX_ID } from './id-codec.js';

/** IDs of every length, the edges among them often. */
const anyId = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.bigInt({ min: 0n, max: MAX_ID }),
  fc.tuple(fc.bigInt({ min: 0n, max: MAX_ID }), fc.nat(62)).map(([id, shift]) => id >> BigInt(shift)),
);

const DIGITS = '0123456789';

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

const LOWER = UPPER.toLowerCase();

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const BITCOIN = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Written out here once more, apart from the code: name, alphabet, width, 2^63 - 1 in it, whether the form sorts. */
const TABLE: readonly [name: CodecName, alphabet: string, width: number, largest: string, sortable: boolean][] = [
  ['decimal', DIGITS, 19, '9223372036854775807', false],
  ['decimal-padded', DIGITS, 19, '9223372036854775807', true],
  ['hex', `${DIGITS}abcdef`, 16, '7fffffffffffffff', false],
  ['hex-padded', `${DIGITS}abcdef`, 16, '7fffffffffffffff', true],
  ['base32', CROCKFORD, 13, '7ZZZZZZZZZZZZ', false],
  ['base32-padded', CROCKFORD, 13, '7ZZZZZZZZZZZZ', true],
  ['base32-check', `${CROCKFORD}*~$=U`, 14, '7ZZZZZZZZZZZZ5', false],
  ['base32-check-padded', `${CROCKFORD}*~$=U`, 14, '7ZZZZZZZZZZZZ5', true],
  ['base36', DIGITS + LOWER, 13, '1y2p0ij32e8e7', false],
  ['base36-padded', DIGITS + LOWER, 13, '1y2p0ij32e8e7', true],
  ['base58', BITCOIN, 11, 'NQm6nKp8qFC', false],
  ['base58-padded', BITCOIN, 11, 'NQm6nKp8qFC', true],
  ['base62', DIGITS + UPPER + LOWER, 11, 'AzL8n0Y58m7', false],
  ['base62-padded', DIGITS + UPPER + LOWER, 11, 'AzL8n0Y58m7', true],
  ['base62-lower-first', DIGITS + LOWER + UPPER, 11, 'aZl8N0y58M7', false],
  ['base62-lower-first-padded', DIGITS + LOWER + UPPER, 11, 'aZl8N0y58M7', false],
  ['base64url', `${UPPER}${LOWER}${DIGITS}-_`, 11, 'f_________8', false],
];

describe('codecs', () => {
  it('are exactly those of this table', () => {
    expect(Object.keys(codecs)).toEqual(TABLE.map(([name]) => name));
  });

  it('are frozen, each of them too', () => {
    expect(Object.isFrozen(codecs)).toBe(true);
    expect(Object.values(codecs).every((codec) => Object.isFrozen(codec))).toBe(true);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'Base62', ' base62', '', 'base63'])(
    'have no codec named %j',
    (name) => {
      expect(isCodecName(name)).toBe(false);
      expect(codecs[name as CodecName]).toBeUndefined();
    },
  );

  it.each([undefined, null, 62, ['base62'], {}])('%p is no name of a codec', (name) => {
    expect(isCodecName(name)).toBe(false);
  });
});

describe.each(TABLE)('codec %s', (name, alphabet, width, largest, sortable) => {
  const codec = codecs[name];
  const padded = name.endsWith('-padded') || name === 'base64url';
  const zero = alphabet.charAt(0);
  const refusal = (text: unknown): InvalidIdError => caught(InvalidIdError, () => codec.decode(text as string));

  it('has its name, width and order', () => {
    expect(isCodecName(name)).toBe(true);
    expect(codec).toMatchObject({ name, width, sortable });
  });

  it('writes 2^63 - 1 at full width', () => {
    expect(codec.encode(MAX_ID)).toBe(largest);
    expect(largest).toHaveLength(width);
  });

  it('reads back every ID it writes', () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const text = codec.encode(id);
        const fits = padded ? text.length === width : text.length <= width;
        return fits && codec.decode(text) === id;
      }),
    );
    expect(EDGES.filter((id) => codec.decode(codec.encode(id)) !== id)).toEqual([]);
  });

  it('needs no this', () => {
    expect(EDGES.map(codec.encode).map(codec.decode)).toEqual(EDGES);
  });

  if (sortable) {
    it('sorts as text', () => {
      fc.assert(fc.property(anyId, anyId, (a, b) => codec.encode(a) < codec.encode(b) === a < b));
    });
  } else {
    it('does not sort as text, as it says', () => {
      const byText = [...EDGES].sort((a, b) => (codec.encode(a) < codec.encode(b) ? -1 : 1));
      expect(byText).not.toEqual(EDGES);
    });
  }

  it('accepts no text that it would not write', () => {
    const symbols = fc.constantFrom(...alphabet);
    const random = fc.string({ unit: symbols, maxLength: width + 1 });
    const below = fc.string({ unit: symbols, minLength: width - 1, maxLength: width - 1 }).map((text) => zero + text);
    const nearlyRight = fc.tuple(anyId, fc.nat(width - 1), symbols).map(([id, at, symbol]) => {
      const text = codec.encode(id);
      return text.slice(0, at) + symbol + text.slice(at + 1);
    });
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(fc.oneof(random, below, nearlyRight), (text) => {
        let id: bigint;
        try {
          id = codec.decode(text);
        } catch (error) {
          if (!(error instanceof InvalidIdError)) throw error;
          refused++;
          return true;
        }
        accepted++;
        return codec.encode(id) === text;
      }),
      { numRuns: 2_000 },
    );
    // Neither side of the property went untested.
    expect(accepted).toBeGreaterThan(5);
    expect(refused).toBeGreaterThan(5);
  });

  it.each([MAX_ID + 1n, 2n ** 64n, -1n, -(2n ** 63n), 10n ** 1000n])('refuses to encode the bigint %#', (id) => {
    const error = caught(InvalidIdError, () => codec.encode(id));
    expect(error).toMatchObject({ errorCode: 'INVALID_ID', retryable: false, codec: name });
    expect(error.message.length).toBeLessThan(400);
  });

  it.each([undefined, null, 1, '1', NaN, {}, [1n], true, Symbol('id'), Object(1n)])(
    'refuses to encode %p, which is no bigint',
    (id) => {
      expect(() => codec.encode(id as bigint)).toThrow(InvalidIdError);
    },
  );

  it.each([undefined, null, 1, 1n, NaN, {}, ['1'], true, Symbol('1'), new String('1')])(
    'refuses to decode %p, which is no string',
    (text) => {
      expect(refusal(text).codec).toBe(name);
    },
  );

  it('refuses white space, signs, prefixes, other digits and characters beyond its alphabet anywhere', () => {
    const text = codec.encode(1_234_567_890_123_456_789n);
    const foreign = [
      ' ',
      '\n',
      '\0',
      '\u00a0',
      '\ufeff',
      '+',
      '.',
      ',',
      '/',
      '%',
      '\u0661',
      '\uff11',
      '\u0131',
      'é',
      '\u{1d7d9}',
    ];
    for (const symbol of foreign) {
      for (let at = 0; at <= text.length; at++) {
        refusal(text.slice(0, at) + symbol + text.slice(at));
        refusal(text.slice(0, at) + symbol + text.slice(at + 1));
      }
    }
    for (const wrong of ['', '-1', '+1', '0x1', '1_000', '1.0', ' 1', '1\n']) refusal(wrong);
  });

  it('refuses the texts of the other width', () => {
    const text = codec.encode(1n);
    refusal(padded ? text.slice(1) : zero + text);
    refusal(zero + text);
    refusal(codec.encode(MAX_ID) + zero);
    refusal(zero + codec.encode(MAX_ID));
  });

  it('refuses a million characters with a short message', () => {
    for (const symbol of [zero, alphabet.at(-1)!, '\u0000', '\u{1f4a7}']) {
      const error = refusal(symbol.repeat(1_000_000));
      expect(error.message).toContain(`(${symbol.length * 1_000_000} characters)`);
      expect(error.message.length).toBeLessThan(700);
      expect(error.message).toMatch(/^[ -~]*$/);
    }
  });

  it('says which codec refused what, and what would be legal', () => {
    const error = refusal('no-ID!');
    expect(error).toMatchObject({ errorCode: 'INVALID_ID', retryable: false, codec: name, given: '"no-ID!"' });
    expect(error.message).toContain(`(${name}): "no-ID!". Legal: ${error.legal}`);
    expect(error.legal).toMatch(/character/);
  });
});

describe('a positional codec', () => {
  const positional = TABLE.filter(([name]) => !name.startsWith('base32-check') && name !== 'base64url');

  /** Digit by digit, with nothing but bigints. */
  const reference = (value: bigint, alphabet: string): string => {
    const base = BigInt(alphabet.length);
    const head = value < base ? '' : reference(value / base, alphabet);
    return head + alphabet.charAt(Number(value % base));
  };

  it.each(positional)('%s writes what division digit by digit gives', (name, alphabet, width) => {
    fc.assert(
      fc.property(anyId, (id) => {
        const natural = reference(id, alphabet);
        const expected = name.endsWith('-padded') ? natural.padStart(width, alphabet.charAt(0)) : natural;
        return codecs[name].encode(id) === expected;
      }),
    );
  });

  it.each(positional)(
    '%s accepts 2^63 - 1 and refuses 2^63 and everything above of that width',
    (name, alphabet, width) => {
      expect(codecs[name].decode(reference(MAX_ID, alphabet))).toBe(MAX_ID);
      expect(reference(MAX_ID + 1n, alphabet)).toHaveLength(width);
      for (const value of [MAX_ID + 1n, MAX_ID + 2n, 2n ** 63n + 2n ** 32n]) {
        const text = reference(value, alphabet);
        expect(() => codecs[name].decode(text)).toThrow(InvalidIdError);
      }
      expect(() => codecs[name].decode(alphabet.at(-1)!.repeat(width))).toThrow(InvalidIdError);
    },
  );
});

describe('letter case', () => {
  it.each([
    ['hex', 'ABC'],
    ['hex-padded', '0000000000000ABC'],
    ['base36', 'ABC'],
    ['base36', 'aBc'],
    ['base32', 'abc'],
    ['base32', '1l'],
    ['base32', 'I'],
    ['base32', 'O'],
    ['base32-padded', '0000000000ABc'],
    ['base32-check', '16Jd'],
    ['base58', '0'],
    ['base58', 'O'],
    ['base58', 'I'],
    ['base58', 'l'],
  ] as const)('%s refuses %s', (name, text) => {
    expect(() => codecs[name].decode(text)).toThrow(InvalidIdError);
  });
});

const anyOf63Bits = fc.oneof(fc.constantFrom(...EDGES), fc.bigInt({ min: 0n, max: MAX_ID }));

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
    expect(() => base32.decodeLenient(`16J${'-'.repeat(24)}`)).toThrow(/in at most 26 characters/);
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
      fc.property(anyOf63Bits, (id) => {
        expect(base32Check.encode(id)).toBe(base32.encode(id) + checkOf(id));
        expect(base32Check.padded.encode(id)).toBe(base32.padded.encode(id) + checkOf(id));
      }),
    );
  });

  it('finds every wrong character', () => {
    fc.assert(
      fc.property(anyOf63Bits, fc.nat(13), fc.constantFrom(...SYMBOLS), (id, at, symbol) => {
        const text = base32Check.padded.encode(id);
        const wrong = text.slice(0, at) + symbol + text.slice(at + 1);
        fc.pre(wrong !== text);
        expect(() => base32Check.padded.decode(wrong)).toThrow(InvalidIdError);
      }),
    );
  });

  it('finds every swap of two neighbours', () => {
    fc.assert(
      fc.property(anyOf63Bits, fc.nat(12), (id, at) => {
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

describe('base58', () => {
  it.each([
    // Bitcoin Core, src/test/data/base58_encode_decode.json: the rows below eight bytes without a leading zero byte.
    ['61', '2g'],
    ['626262', 'a3gV'],
    ['636363', 'aPEr'],
    ['516b6fcd0f', 'ABnLTmg'],
    ['572e4794', '3EFU7m'],
    ['10c8511e', 'Rt5zm'],
  ])('writes the bytes %s as %s', (bytes, text) => {
    const id = BigInt(`0x${bytes}`);
    expect(base58.encode(id)).toBe(text);
    expect(base58.decode(text)).toBe(id);
    expect(base58.padded.encode(id)).toBe(text.padStart(11, '1'));
  });
});

const bytesOf = (id: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(id);
  return bytes;
};

describe('base64url', () => {
  it('writes what a library for bytes makes of the eight big-endian bytes', () => {
    fc.assert(
      fc.property(anyOf63Bits, (id) => {
        const text = bytesOf(id).toString('base64url');
        expect(base64url.encode(id)).toBe(text);
        expect(base64url.decode(text)).toBe(id);
      }),
    );
  });

  it.each(['AAAAAAAAAAB', 'AAAAAAAAAAC', 'AAAAAAAAAAD', 'f_________9', 'f__________'])(
    'refuses %s, whose last two bits are no part of the bytes',
    (text) => {
      expect(Buffer.from(text, 'base64url')).toHaveLength(8);
      expect(() => base64url.decode(text)).toThrow(InvalidIdError);
    },
  );

  it.each(['gAAAAAAAAAA', '__________8'])('refuses %s, a number above 2^63 - 1', (text) => {
    expect(Buffer.from(text, 'base64url').readBigUInt64BE() >= 2n ** 63n).toBe(true);
    expect(() => base64url.decode(text)).toThrow(InvalidIdError);
  });

  it.each(['AAAAAAAAAAA=', 'AAAAAAAAAA', 'AAAAAAAAAA+', 'AAAAAAAAAA/'])('refuses %s', (text) => {
    expect(() => base64url.decode(text)).toThrow(InvalidIdError);
  });
});

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
