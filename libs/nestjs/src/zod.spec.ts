import { codecs, ConfigurationError, type IdSchemaOptions, typedId, type TypedId } from '@raindrop/core';
import { z } from 'zod';
import { zodId } from './zod.js';

const id = 30_077_675_337_940_996n;
const order = typedId('order').encode(id);

describe('zodId', () => {
  it.each<[IdSchemaOptions, string, string | bigint]>([
    [{}, `${id}`, `${id}`],
    [{ as: 'text' }, '12', '12'],
    [{ as: 'bigint' }, `${id}`, id],
    [{ codec: 'base62' }, codecs.base62.encode(id), `${id}`],
    [{ prefix: 'order' }, order, order],
    [{ prefix: 'order', as: 'decimal' }, order, `${id}`],
    [{ prefix: 'order', codec: 'hex', as: 'bigint' }, `order_${id.toString(16)}`, id],
  ])('with %p decodes %s to %p, encodes it again, and is inverted', (options, text, held) => {
    const codec = zodId(options);
    expect(codec.parse(text)).toBe(held);
    expect(z.decode(codec, text)).toBe(held);
    expect(z.encode(codec, held)).toBe(text);
    expect(z.invertCodec(codec).parse(held)).toBe(text);
  });

  it.each<unknown>([undefined, null, '', '01', 12, 1n, ['1'], { toString: () => '1' }])(
    'refuses %p with one issue at its place',
    (value) => {
      const { error } = z.object({ id: zodId() }).safeParse({ id: value });
      expect(error!.issues.map(({ path, message }) => [path, message])).toEqual([
        [['id'], 'must be 1 to 19 characters of 0-9, without a leading 0, up to 9223372036854775807 (2^63 - 1)'],
      ]);
    },
  );

  it.each<[IdSchemaOptions, unknown]>([
    [{}, id],
    [{}, Number(5n)],
    [{ as: 'bigint' }, `${id}`],
    [{ prefix: 'order' }, `${id}`],
    [{ as: 'bigint' }, 2n ** 63n],
    [{}, 'x'],
  ])('with %p does not write %p', (options, held) => {
    expect(z.invertCodec(zodId(options)).safeParse(held).success).toBe(false);
  });

  it('describes the text on both sides of an inverted one, and no bigint', () => {
    const typed = { type: 'string', pattern: '^order_[0-9A-Za-z]{11}$', maxLength: 17 };
    const codec = zodId({ prefix: 'order', as: 'decimal' });
    expect(z.toJSONSchema(codec, { io: 'input' })).toMatchObject({ ...typed, examples: [expect.any(String)] });
    expect(z.toJSONSchema(codec)).toMatchObject({ type: 'string', format: 'int64', maxLength: 19 });
    expect(z.toJSONSchema(z.invertCodec(codec))).toMatchObject(typed);
    const asBigInt = zodId({ as: 'bigint' });
    expect(z.toJSONSchema(z.invertCodec(asBigInt))).toMatchObject({ type: 'string', format: 'int64' });
    expect(() => z.toJSONSchema(asBigInt)).toThrow('BigInt cannot be represented in JSON Schema');
  });

  it('says by its types what goes in and what comes out', () => {
    const typed: TypedId<'order'> = zodId({ prefix: 'order' }).parse(order);
    const held: bigint = zodId({ as: 'bigint' }).parse('1');
    const text: TypedId<'order'> = z.invertCodec(zodId({ prefix: 'order', as: 'bigint' })).parse(id);
    const input: z.input<ReturnType<typeof zodId>> = '1';
    // @ts-expect-error a client sends text
    const wrong: z.input<ReturnType<typeof zodId>> = 1n;
    expect([typed, held, text, input, wrong]).toEqual([order, 1n, order, '1', 1n]);
  });

  it('refuses options at once', () => {
    expect(() => zodId({ codec: undefined })).toThrow(ConfigurationError);
    // @ts-expect-error a form that does not exist
    expect(() => zodId({ as: 'number' })).toThrow(`as = "number": must be one of 'decimal', 'bigint', 'text'`);
  });
});
