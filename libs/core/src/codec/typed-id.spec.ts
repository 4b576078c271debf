import fc from 'fast-check';
import { ConfigurationError } from '../config/option-reader.js';
import { base32Check, base62, codecs, type CodecName } from './codecs.js';
import { type IdCodec, InvalidIdError, MAX_ID } from './id-codec.js';
import { caught, EDGES } from '../../../../test/support/engine/caught.js';
import { typedId, type TypedId } from './typed-id.js';

const anyId = fc.oneof(fc.constantFrom(...EDGES), fc.bigInt({ min: 0n, max: MAX_ID }));

describe('typedId', () => {
  const order = typedId('order');

  it('writes the prefix and eleven characters of base62', () => {
    expect(order).toMatchObject({ prefix: 'order', width: 17, sortable: true });
    expect(order.encode(0n)).toBe('order_00000000000');
    expect(order.encode(MAX_ID)).toBe('order_AzL8n0Y58m7');
  });

  it('has a type that tells the prefixes apart', () => {
    const text: `order_${string}` = order.encode(1n);
    const same: TypedId<'order'> = text;
    expect(order.decode(same)).toBe(1n);
  });

  it('reads back every ID and sorts as text', () => {
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        expect(order.decode(order.encode(a))).toBe(a);
        expect(order.encode(a) < order.encode(b)).toBe(a < b);
      }),
    );
  });

  const carried = (Object.keys(codecs) as CodecName[]).filter((name) => name !== 'base64url');

  it.each(carried)('carries %s as well, by name or by codec', (name) => {
    const byName = typedId('order_item', name);
    const byCodec = typedId('order_item', codecs[name]);
    expect(byName).toMatchObject({ width: 11 + codecs[name].width, sortable: codecs[name].sortable });
    const wrong = EDGES.filter((id) => {
      const text = byName.encode(id);
      caught(InvalidIdError, () => order.decode(text));
      const isRead = byName.decode(text) === id && byCodec.decode(text) === id;
      return !isRead || text !== `order_item_${codecs[name].encode(id)}`;
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ...['', 'order', 'order_', '00000000001', 'user_00000000001', 'Order_00000000001', 'ORDER_00000000001'],
    ...['order-00000000001', 'order__00000000001', 'orders_0000000001', ' order_00000000001', 'order_00000000001 '],
    ...[
      'order_1',
      'order_0000000001',
      'order_000000000001',
      'order_AzL8n0Y58m8',
      'order_zzzzzzzzzzz',
      'order_0000000000-',
    ],
    ...['order_order_00000000001', 'x'.repeat(1_000_000), `order_${'0'.repeat(1_000_000)}`],
  ])('refuses a text of another kind or form (%#)', (text) => {
    const error = caught(InvalidIdError, () => order.decode(text));
    expect(error).toMatchObject({ codec: 'typed order', errorCode: 'INVALID_ID', retryable: false });
    expect(error.message.length).toBeLessThan(400);
    expect(error.message).toContain('order_ followed by ');
  });

  it('shows the whole text when its end is wrong', () => {
    const error = caught(InvalidIdError, () => typedId('order', base32Check.padded).decode('order_000000000016JE'));
    expect(error.given).toBe('"order_000000000016JE"');
    expect(error.legal).toMatch(/^order_ followed by exactly 13 characters .* check symbol/);
  });

  it.each([undefined, null, 1n, 17, {}, ['order_00000000001']])('refuses to decode %p', (text) => {
    expect(() => order.decode(text as string)).toThrow(InvalidIdError);
  });

  it.each([-1n, MAX_ID + 1n, 1, '1', undefined])('refuses to encode %p', (id) => {
    expect(caught(InvalidIdError, () => order.encode(id as bigint)).codec).toBe('typed order');
  });

  it.each(['a', 'order', 'order_item', 'a1', 'a__b', 'v2_order', 'a'.repeat(31)])('takes the prefix %s', (prefix) => {
    const codec = typedId(prefix);
    expect(codec.decode(codec.encode(7n))).toBe(7n);
  });

  it.each([
    ...[
      '',
      '_',
      'order_',
      '_order',
      '1order',
      'Order',
      'oRder',
      'order-item',
      'order item',
      'order\n',
      'bestellung\u00e4',
    ],
    ...['a'.repeat(32), 'a'.repeat(1_000_000), undefined, null, 1, {}, ['order']],
  ])('refuses the prefix %#', (prefix) => {
    const error = caught(ConfigurationError, () => typedId(prefix as string));
    expect(error.problems).toMatchObject([{ option: 'prefix' }]);
    expect(error.message.length).toBeLessThan(300);
  });

  it.each(['base63', '__proto__', '', null, 62, {}, { encode: base62.encode }])('refuses the codec %p', (codec) => {
    const error = caught(ConfigurationError, () => typedId('order', codec as unknown as IdCodec));
    expect(error.problems).toMatchObject([{ option: 'codec' }]);
    expect(error.message).toContain('base62-padded');
  });

  it('reads no text of another prefix, of which its own is the beginning', () => {
    const read = carried.filter((inner) =>
      carried.some((outer) =>
        EDGES.some((id) => {
          const text = typedId('a_b', inner).encode(id);
          try {
            return typedId('a', outer).decode(text) >= 0n;
          } catch {
            return false;
          }
        }),
      ),
    );
    expect(read).toEqual([]);
  });

  it.each<[string, IdCodec | CodecName, string]>([
    ['base64url', 'base64url', 'codec = "base64url": writes _ in IDs'],
    ['the codec itself', codecs.base64url, 'codec = "base64url": writes _ in IDs'],
    ['a codec from outside', { ...base62, name: 'mine', encode: (id) => `x_${id}` }, 'codec = "mine": writes _ in IDs'],
  ])('refuses %s, whose texts do not tell where the prefix ends', (_, codec, message) => {
    // 'a_' and eleven characters, or 'a_b_' and nine of them.
    expect(typedId('a_b', 'base32').encode(32n ** 8n)).toHaveLength(13);
    expect(() => typedId('a', codec)).toThrow(ConfigurationError);
    expect(() => typedId('a', codec)).toThrow(message);
  });

  it('carries a codec that refuses some IDs', () => {
    const none = (id: bigint): string => {
      throw new InvalidIdError('none', id, 'nothing');
    };
    expect(typedId('order', { ...base62, encode: none }).prefix).toBe('order');
  });

  it('passes on the errors of a codec from outside', () => {
    const decode = (): never => {
      throw new RangeError('theirs');
    };
    expect(() => typedId('order', { ...base62, decode }).decode('order_1')).toThrow(new RangeError('theirs'));
  });
});
