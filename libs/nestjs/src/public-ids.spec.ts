import { inspect } from 'node:util';
import { type ArgumentMetadata, BadRequestException } from '@nestjs/common';
import fc from 'fast-check';
import { validateSync } from 'class-validator';
import { codecs, ConfigurationError, type IdCodec, InvalidIdError, typedId } from '@raindrop/core';
import { MAX_ID } from '@raindrop/core/internal';
import { type PublicIdOptions, publicIds } from '@raindrop/node/public-ids';
import type { PublicIdText } from '@raindrop/node/internal';
import { IsSnowflake } from './class-validator.js';
import { ParseIdPipe } from './http/parse-id.pipe.js';

const K1 = '000102030405060708090a0b0c0d0e0f';
const K2 = 'ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221101';
const id = 30_077_675_337_940_996n;
const anyId = fc.oneof(fc.constantFrom(0n, 1n, MAX_ID - 1n, MAX_ID), fc.bigInt({ min: 0n, max: MAX_ID }));

const old = publicIds({ keys: { k1: K1 }, current: 'k1', purpose: 'order' });
const rotated = publicIds({ keys: { k1: K1, k2: K2 }, current: 'k2', purpose: 'order' });
const short = publicIds({ keys: { k1: K1 }, current: 'k1', bits: 53 });

function thrown(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

function problemsOf(options: unknown): string[] {
  const error = thrown(() => publicIds(options as PublicIdOptions));
  expect(error).toBeInstanceOf(ConfigurationError);
  return (error as ConfigurationError).problems.map(({ option, message }) => `${option}: ${message}`);
}

describe('publicIds', () => {
  // Links that are out in the world must keep working: these texts never change.
  it.each<[string, PublicIdOptions, bigint, string]>([
    ['63 bits', { keys: { k1: K1 }, current: 'k1' }, id, 'k15x1AZfHVXFK'],
    ['a purpose', { keys: { k1: K1 }, current: 'k1', purpose: 'order' }, id, 'k18E13pR0knvC'],
    ['zero', { keys: { a: K1 }, current: 'a' }, 0n, 'a2IES0rrVB7n'],
    ['a key of 32 bytes', { keys: { k2: K2 }, current: 'k2' }, MAX_ID, 'k2AB68uDNNBUn'],
    ['53 bits', { keys: { k1: K1 }, current: 'k1', bits: 53 }, 4_503_599_627_370_497n, 'k19B92jSA1t'],
    ['base32', { keys: { k1: K1 }, current: 'k1', codec: 'base32-check-padded' }, id, 'k14AMTYNW7K62FJ~'],
  ])('writes today what it wrote yesterday: %s', (_, options, each, text) => {
    expect(publicIds(options).encode(each)).toBe(text);
    expect(publicIds(options).decode(text)).toBe(each);
  });
});

describe('A public ID', () => {
  it('is the id of the key and the permuted ID in eleven characters, nine for 53 bits', () => {
    expect(old).toMatchObject({ name: 'public-id', width: 13, sortable: false, bits: 63 });
    expect(old.encode(id)).toBe(`k1${codecs['base62-padded'].encode(old.conceal(id))}`);
    expect(short).toMatchObject({ width: 11, bits: 53 });
    expect(`k100${short.encode(id >> 2n).slice(2)}`).toBe(
      `k1${codecs['base62-padded'].encode(short.conceal(id >> 2n))}`,
    );
  });

  it('reads back every ID, with every key, needing no this', () => {
    fc.assert(
      fc.property(anyId, (each) => {
        for (const { encode, decode, conceal, reveal, width } of [old, rotated]) {
          expect(decode(encode(each))).toBe(each);
          expect(encode(each)).toHaveLength(width);
          expect(encode(decode(encode(each)))).toBe(encode(each));
          expect(reveal(conceal(each))).toBe(each);
        }
      }),
    );
  });

  it.each(Object.keys(codecs).filter((name) => /padded|url/.test(name)) as PublicIdText[])(
    'can be written in %s, in either width',
    (codec) => {
      for (const bits of [53, 63] as const) {
        const ids = publicIds({ keys: { k1: K1 }, current: 'k1', bits, codec });
        for (const each of [0n, 1n, 2n ** 53n - 1n, BigInt(Number.MAX_SAFE_INTEGER) >> 7n]) {
          const text = ids.encode(each);
          expect(text).toHaveLength(ids.width);
          expect(text).toMatch(/^k1[\w~*$=-]+$/);
          expect(ids.decode(text)).toBe(each);
        }
      }
    },
  );

  it('is a safe number where the IDs are', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }), (each) => {
        const concealed = Number(short.conceal(each));
        expect(Number.isSafeInteger(concealed)).toBe(true);
        expect(short.reveal(BigInt(concealed))).toBe(each);
      }),
    );
  });

  it('is unrelated under another purpose, another key and another width', () => {
    const user = publicIds({ keys: { k1: K1 }, current: 'k1', purpose: 'user' });
    const none = publicIds({ keys: { k1: K1 }, current: 'k1' });
    const concealed = [old, user, none, rotated, short].map((ids) => ids.conceal(1n));
    expect(new Set(concealed).size).toBe(5);
    expect(user.decode(old.encode(id))).not.toBe(id);
  });

  it('stays readable after its key has been replaced, until that is taken away', () => {
    const text = old.encode(id);
    expect(rotated.encode(id)).toMatch(/^k2/);
    expect(rotated.decode(text)).toBe(id);
    expect(rotated.decode(rotated.encode(id))).toBe(id);
    expect(rotated.conceal(id, 'k1')).toBe(old.conceal(id));
    expect(rotated.reveal(old.conceal(id), 'k1')).toBe(id);
    expect(rotated.reveal(old.conceal(id))).not.toBe(id);
    const without = publicIds({ keys: { k2: K2 }, current: 'k2', purpose: 'order' });
    expect(thrown(() => without.decode(text))).toBeInstanceOf(InvalidIdError);
    // The deployment before may meet texts of the one after.
    expect(thrown(() => old.decode(rotated.encode(id)))).toBeInstanceOf(InvalidIdError);
  });

  it('names its key without doubt, however the ids begin', () => {
    const keys = { a: K1, a1: K2, a1b2c3d4: `11${K1.slice(2)}`, '1': `22${K1.slice(2)}` };
    const each = Object.keys(keys).map((current) => publicIds({ keys, current }));
    for (const { encode } of each) for (const { decode } of each) expect(decode(encode(id))).toBe(id);
  });

  it('is another ID or none after a character was changed, and never the same', () => {
    const text = old.encode(id);
    for (let at = 2; at < text.length; at++) {
      for (const symbol of 'aZ0') {
        const tampered = text.slice(0, at) + symbol + text.slice(at + 1);
        if (tampered === text) continue;
        const read = thrown(() => old.decode(tampered));
        if (!(read instanceof InvalidIdError)) expect(old.encode(read as bigint)).toBe(tampered);
        expect(read).not.toBe(id);
      }
    }
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty text', ''],
    ['a bigint', id],
    ['the raw ID', id.toString()],
    ['the key alone', 'k1'],
    ['no key', old.encode(id).slice(2)],
    ['an unknown key', `k3${old.encode(id).slice(2)}`],
    ['the key in another case', `K1${old.encode(id).slice(2)}`],
    ['a name of the prototype', `__proto__${old.encode(id).slice(2)}`],
    ['a character too few', old.encode(id).slice(0, -1)],
    ['a character too many', `${old.encode(id)}0`],
    ['white space', ` ${old.encode(id)}`],
    ['a foreign character', `${old.encode(id).slice(0, -1)}-`],
    ['2^63', `k1AzL8n0Y58m8`],
    ['more than 2^63', `k1${'z'.repeat(11)}`],
    ['a million characters', `k1${'0'.repeat(1_000_000)}`],
  ])('is not %s', (_, text) => {
    const error = thrown(() => old.decode(text as string));
    expect(error).toBeInstanceOf(InvalidIdError);
    expect(error).toMatchObject({ errorCode: 'INVALID_ID', codec: 'public-id' });
    expect((error as InvalidIdError).message).toContain(
      'the id of a key (k1) followed by 11 characters, 63 bits in base62',
    );
    expect((error as InvalidIdError).message.length).toBeLessThan(300);
  });

  it('is not a number of more than its bits', () => {
    expect(() => short.decode(`k1${codecs['base62-padded'].encode(2n ** 53n).slice(2)}`)).toThrow(InvalidIdError);
    expect(short.decode(`k1${codecs['base62-padded'].encode(2n ** 53n - 1n).slice(2)}`)).toBe(
      short.reveal(2n ** 53n - 1n),
    );
  });

  it.each([2n ** 53n, -1n, MAX_ID, 2n ** 64n, '7', 7, undefined, null])('refuses %p without repeating it', (given) => {
    for (const act of [short.encode, short.conceal, short.reveal]) {
      const error = thrown(() => act(given as bigint));
      expect(error).toBeInstanceOf(InvalidIdError);
      expect((error as Error).message).toMatch(/Legal: .* a bigint of 53 bits: 0 to 9007199254740991\.$/);
      if (given) expect((error as Error).message).not.toContain(` ${String(given)}`);
    }
  });

  it('can follow the prefix of a typed ID', () => {
    const orders = typedId('order', rotated);
    expect(orders.encode(id)).toBe(`order_${rotated.encode(id)}`);
    expect(orders.decode(`order_${old.encode(id)}`)).toBe(id);
    expect(() => orders.decode(rotated.encode(id))).toThrow(InvalidIdError);
  });
});

describe('The options of publicIds', () => {
  const key = 'Zm9vYmFyYmF6cXV4MTIzNA';

  it.each<[string, string | Uint8Array]>([
    ['bytes', Buffer.from(K1, 'hex')],
    ['a Uint8Array', Uint8Array.from(Buffer.from(K1, 'hex'))],
    ['hex', K1],
    ['upper case hex', K1.toUpperCase()],
    ['base64url', Buffer.from(K1, 'hex').toString('base64url')],
  ])('take a key as %s', (_, each) => {
    expect(publicIds({ keys: { k1: each }, current: 'k1', purpose: 'order' }).encode(id)).toBe(old.encode(id));
  });

  it.each([16, 24, 32])('take %i bytes in each form', (size) => {
    const bytes = Buffer.from(K2, 'hex').subarray(0, size);
    const forms = [bytes, bytes.toString('hex'), bytes.toString('base64url')];
    const texts = forms.map((each) => publicIds({ keys: { k: each }, current: 'k' }).encode(id));
    expect(new Set(texts).size).toBe(1);
  });

  it('copy a key that the caller overwrites', () => {
    const bytes = Buffer.from(K1, 'hex');
    const ids = publicIds({ keys: { k1: bytes }, current: 'k1', purpose: 'order' });
    bytes.fill(0);
    expect(ids.encode(id)).toBe(old.encode(id));
  });

  it.each<[string, unknown, RegExp]>([
    ['no key', undefined, /^keys\.k1: must be 16, 24 or 32 bytes/],
    ['a short text', 'secret', /^keys\.k1: must be/],
    ['15 bytes', new Uint8Array(15).fill(1), /^keys\.k1: must be/],
    ['33 bytes', new Uint8Array(33).fill(1), /^keys\.k1: must be/],
    ['padded base64', `${key}==`, /^keys\.k1: must be/],
    ['plain base64', `+/${key.slice(2)}`, /^keys\.k1: must be/],
    ['base64url with bits left over', `${key.slice(0, -1)}B`, /^keys\.k1: must be/],
    ['white space', ` ${key.slice(1)}`, /^keys\.k1: must be/],
    ['a line break', `${K1}\n`, /^keys\.k1: must be/],
    ['a list', [...Buffer.from(K1, 'hex')], /^keys\.k1: must be/],
    ['zeros', '0'.repeat(32), /^keys\.k1: is one repeated byte/],
    ['zero bytes', new Uint8Array(32), /^keys\.k1: is one repeated byte/],
    ['a placeholder', 'ab'.repeat(16), /^keys\.k1: is one repeated byte/],
  ])('refuse %s as a key', (_, each, expected) => {
    expect(problemsOf({ keys: { k1: each }, current: 'k1' })).toEqual([expect.stringMatching(expected)]);
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /must be an object/],
    ['a list', {}, /^options: must be an object|^keys: must be an object/],
    ['no keys', { keys: {}, current: 'k1' }, /^keys: must hold a key/],
    ['a list of keys', { keys: [K1], current: 'k1' }, /^keys: must be an object/],
    ['bytes for keys', { keys: Buffer.from(K1, 'hex'), current: 'k1' }, /^keys: must be an object/],
    ['a text for keys', { keys: K1, current: 'k1' }, /^keys: must be an object/],
    ['no current', { keys: { k1: K1 } }, /^current: must be the id of one of the keys: k1/],
    ['another current', { keys: { k1: K1 }, current: 'k2' }, /^current: must be the id of one of the keys: k1/],
    ['a name of the prototype', { keys: { k1: K1 }, current: 'toString' }, /^current: /],
    ['a long id', { keys: { key1key12: K1 }, current: 'key1key12' }, /^keys: the id of key 1 must be 1 to 8/],
    ['an id with a sign', { keys: { k1: K1, 'k-2': K2 }, current: 'k1' }, /^keys: the id of key 2 must be/],
    ['twins', { keys: { k1: K1, k2: K1.toUpperCase() }, current: 'k1' }, /^keys\.k2: is the same key as keys\.k1/],
    ['other bits', { keys: { k1: K1 }, current: 'k1', bits: 64 }, /^bits: must be 53 or 63/],
    ['bits as text', { keys: { k1: K1 }, current: 'k1', bits: '63' }, /^bits: must be 53 or 63/],
    ['a long purpose', { keys: { k1: K1 }, current: 'k1', purpose: 'x'.repeat(65) }, /^purpose: must be 1 to 64/],
    ['a purpose of other letters', { keys: { k1: K1 }, current: 'k1', purpose: 'Ä' }, /^purpose: /],
    ['a codec that varies', { keys: { k1: K1 }, current: 'k1', codec: 'decimal' }, /^codec: .*fixed width: decimal-p/],
    ['no name of a codec', { keys: { k1: K1 }, current: 'k1', codec: 'x-padded' }, /^codec: /],
    ['an unknown option', { keys: { k1: K1 }, current: 'k1', tweak: 'x' }, /^tweak: is not an option/],
  ])('refuse %s', (_, options, expected) => {
    expect(problemsOf(options)[0]).toMatch(expected);
  });

  it('are reported together', () => {
    const options = { keys: { k1: 'x', k2: '0'.repeat(32) }, current: 'k3', bits: 1, purpose: '', codec: 1 };
    expect(problemsOf(options).map((each) => each.split(':')[0])).toEqual([
      ...['keys.k1', 'keys.k2', 'current', 'bits', 'codec'],
    ]);
  });
});

describe('A key', () => {
  const bytes = Buffer.from(K2, 'hex');
  const forms = [K2, bytes.toString('base64url'), bytes.toString('base64'), bytes.join(','), bytes.join(', ')];
  const leaks = (text: string): string[] => forms.filter((form) => text.toLowerCase().includes(form.toLowerCase()));
  const shown = (value: unknown): string =>
    [
      inspect(value, { depth: null, showHidden: true, getters: true, maxArrayLength: null }),
      JSON.stringify(value),
      String(value),
      JSON.stringify(Object.entries(Object.getOwnPropertyDescriptors(value))),
    ].join('\n');

  it('is not shown by the codec, nor by one around it', () => {
    for (const codec of [rotated, typedId('order', rotated)] as IdCodec[]) expect(leaks(shown(codec))).toEqual([]);
    // That the search would find it.
    expect(leaks(shown({ key: K2 }))).not.toEqual([]);
    expect(leaks(shown({ key: [...bytes] }))).not.toEqual([]);
  });

  it.each<[string, unknown]>([
    ['cut short', { keys: { k1: K2.slice(0, -1) }, current: 'k1' }],
    ['in plain base64', { keys: { k1: bytes.toString('base64') }, current: 'k1' }],
    ['a byte too long', { keys: { k1: Buffer.concat([bytes, bytes.subarray(0, 1)]) }, current: 'k1' }],
    ['given twice', { keys: { k1: K2, k2: K2 }, current: 'k1' }],
    ['in place of the keys', { keys: K2, current: 'k1' }],
    ['in place of its id', { keys: { [K2]: 'k1' }, current: 'k1' }],
    ['as the current one', { keys: { k1: K2 }, current: K2 }],
    ['as the purpose', { keys: { k1: K2 }, current: 'k1', purpose: `${K2} ` }],
    ['as the codec', { keys: { k1: K2 }, current: 'k1', codec: K2 }],
    ['as the bits', { keys: { k1: K2 }, current: 'k1', bits: K2 }],
    ['as an option of another name', { keys: { k1: K2 }, current: 'k1', key: K2 }],
  ])('is in no error: %s', (_, options) => {
    const error = thrown(() => publicIds(options as PublicIdOptions)) as Error;
    expect(error).toBeInstanceOf(ConfigurationError);
    const text = `${shown(error)}\n${error.stack}`.toLowerCase();
    for (const form of forms) expect(text).not.toContain(form.slice(0, 12).toLowerCase());
  });

  it('is in no error of a call that is given it', () => {
    for (const act of [
      () => rotated.conceal(id, K2),
      () => rotated.reveal(id, K2),
      () => rotated.encode(K2 as never),
      () => rotated.conceal(bytes as never),
    ]) {
      expect(leaks(shown(thrown(act)))).toEqual([]);
    }
    expect(() => rotated.conceal(id, 'k3')).toThrow(/key = .*must be the id of a key: k1, k2/);
    expect(() => rotated.reveal(id, '__proto__')).toThrow(ConfigurationError);
  });
});

describe('With a public ID', () => {
  const at: ArgumentMetadata = { type: 'param', data: 'id', metatype: String };

  it('ParseIdPipe gives the ID as entities hold it, whatever key its text is of', () => {
    for (const text of [old.encode(id), rotated.encode(id)]) {
      expect(new ParseIdPipe({ codec: rotated }).transform(text, at)).toBe(id.toString());
      expect(new ParseIdPipe({ codec: rotated, as: 'bigint' }).transform(text, at)).toBe(id);
      const typed = new ParseIdPipe({ prefix: 'order', codec: rotated, as: 'decimal' });
      expect(typed.transform(`order_${text}`, at)).toBe(id.toString());
    }
  });

  it('ParseIdPipe refuses the raw ID, and says what is legal', () => {
    const error = thrown(() => new ParseIdPipe({ codec: rotated }).transform(id.toString(), at));
    expect(error).toBeInstanceOf(BadRequestException);
    expect((error as Error).message).toBe(
      'id must be the id of a key (k1, k2) followed by 11 characters, 63 bits in base62-padded',
    );
  });

  it('@IsSnowflake() accepts it and nothing else', () => {
    class Query {
      @IsSnowflake({ codec: rotated })
      after = '';
    }
    const errorsOf = (after: string): number => validateSync(Object.assign(new Query(), { after })).length;
    expect([old.encode(id), rotated.encode(id), id.toString(), ''].map(errorsOf)).toEqual([0, 0, 1, 1]);
  });
});
