import { ConfigurationError } from '../config/option-reader.js';
import { codecs, type CodecName } from './codecs.js';
import type { IdCodec } from './id-codec.js';
import { InvalidIdError } from './id-codec.js';
import { idSchema, type IdSchemaOptions, type StandardIdSchema } from './id-schema.js';
import { typedId } from './typed-id.js';

const id = 30_077_675_337_940_996n;
const order = typedId('order').encode(id);

const run = (schema: StandardIdSchema<unknown, unknown>, value: unknown): unknown =>
  schema['~standard'].validate(value);

/** A codec that writes small IDs only, and whose messages tell the ID. */
const small: IdCodec = {
  name: 'small',
  width: 3,
  sortable: false,
  encode: (given) => {
    if (given > 999n) throw new InvalidIdError('small', given, 'an ID up to 999');
    return String(given).padStart(3, '0');
  },
  decode: (text) => {
    if (!/^\d{3}$/.test(text)) throw new InvalidIdError('small', text, 'three digits');
    return BigInt(text);
  },
};

describe('idSchema', () => {
  it.each<[IdSchemaOptions, string, string | bigint]>([
    [{}, '0', '0'],
    [{}, '9223372036854775807', '9223372036854775807'],
    [{ as: 'text' }, '12', '12'],
    [{ as: 'bigint' }, `${id}`, id],
    [{ codec: 'base62' }, codecs.base62.encode(id), `${id}`],
    [{ codec: 'base62', as: 'text' }, codecs.base62.encode(id), codecs.base62.encode(id)],
    [{ prefix: 'order' }, order, order],
    [{ prefix: 'order', as: 'decimal' }, order, `${id}`],
    [{ prefix: 'order', as: 'bigint' }, order, id],
    [{ codec: small }, '012', '12'],
  ])('with %p reads %s as %p, and writes it back', (options, text, held) => {
    const schema = idSchema(options);
    expect(run(schema, text)).toEqual({ value: held });
    expect(run(schema.encoder, held)).toEqual({ value: text });
  });

  it.each(Object.keys(codecs) as CodecName[])('reads what %s writes', (codec) => {
    const schema = idSchema({ codec, as: 'bigint' });
    expect(run(schema.encoder, id)).toEqual({ value: codecs[codec].encode(id) });
    expect(run(schema, codecs[codec].encode(id))).toEqual({ value: id });
  });

  it.each<unknown>([
    undefined,
    null,
    '',
    '-1',
    '01',
    ' 1',
    '9223372036854775808',
    1,
    1n,
    ['1'],
    { toString: () => '1' },
  ])('refuses %p by the words of ParseIdPipe, and repeats nothing', (value) => {
    const message = 'must be 1 to 19 characters of 0-9, without a leading 0, up to 9223372036854775807 (2^63 - 1)';
    expect(run(idSchema(), value)).toEqual({ issues: [{ message }] });
  });

  it.each<unknown>([id, `${id}`, Number(123n)])('writes the row with the ID %p', (held) => {
    const text = typedId('order').encode(BigInt(held as string));
    expect(run(idSchema({ prefix: 'order', as: 'decimal' }).encoder, held)).toEqual({ value: text });
  });

  it.each<[IdSchemaOptions, unknown, string]>([
    [{}, 2 ** 53, 'an ID to show must be decimal digits, a bigint or a safe integer'],
    [{}, null, 'an ID to show must be decimal digits, a bigint or a safe integer'],
    [{ codec: 'hex' }, 'ff', 'an ID to show must be decimal digits, a bigint or a safe integer'],
    [{ prefix: 'order' }, `${id}`, 'an ID to show must be order_ followed by exactly 11 characters of 0-9A-Za-z, '],
    [{ codec: small }, 12_345n, 'small cannot write an ID of this size'],
    [{ codec: small }, -1n, 'an ID to show must be decimal digits, a bigint or a safe integer'],
  ])('with %p does not write %p, and the message does not show it', (options, held, message) => {
    const result = run(idSchema(options).encoder, held) as { issues: { message: string }[] };
    expect(result.issues[0]!.message.startsWith(message)).toBe(true);
    expect(JSON.stringify(result)).not.toContain('12345');
  });

  it('lets an error pass that is not about the ID', () => {
    const broken: IdCodec = Object.freeze({
      name: 'broken',
      width: 3,
      sortable: false,
      encode: () => '000',
      decode: (text: string) => {
        if (text === '') throw new InvalidIdError('broken', text, 'three digits');
        throw new TypeError('broken');
      },
    });
    expect(() => run(idSchema({ codec: broken }), '1')).toThrow(TypeError);
  });

  const decimal = {
    description: 'A 63-bit ID, as text: a number would be rounded.',
    type: 'string',
    format: 'int64',
    pattern: '^(0|[1-9][0-9]{0,18})$',
    maxLength: 19,
  };
  const typed = {
    description: 'An ID that begins with order_.',
    type: 'string',
    pattern: '^order_[0-9A-Za-z]{11}$',
    maxLength: 17,
  };
  const example = '4094321512251394';

  it('describes the text, and the ID in the program, for each version of JSON Schema', () => {
    const { jsonSchema } = idSchema({ prefix: 'order', as: 'decimal' })['~standard'];
    const typedExample = typedId('order').encode(BigInt(example));
    for (const target of ['draft-2020-12', 'draft-07']) {
      expect(jsonSchema.input({ target })).toEqual({ ...typed, examples: [typedExample] });
      expect(jsonSchema.output({ target })).toEqual({ ...decimal, examples: [example] });
    }
    expect(jsonSchema.input({ target: 'openapi-3.0' })).toEqual({ ...typed, example: typedExample });
    const { jsonSchema: answer } = idSchema({ prefix: 'order', as: 'decimal' }).encoder['~standard'];
    expect(answer.output({ target: 'openapi-3.0' })).toEqual({ ...typed, example: typedExample });
    expect(answer.input({ target: 'openapi-3.0' })).toEqual({ ...decimal, example });
  });

  it('has no JSON Schema for another version, nor for a bigint', () => {
    const { jsonSchema } = idSchema({ as: 'bigint' })['~standard'];
    expect(jsonSchema.input({ target: 'openapi-3.0' })).toEqual({ ...decimal, example });
    expect(() => jsonSchema.input({ target: 'draft-04' })).toThrow(
      'target = "draft-04": must be one of draft-2020-12, draft-07, openapi-3.0',
    );
    expect(() => jsonSchema.output({ target: 'draft-07' })).toThrow(`as = 'bigint': has no JSON Schema`);
  });

  it.each<[unknown, string]>([
    [{ codec: undefined }, 'part of an import cycle'],
    [{ as: 'number' }, `as = "number": must be one of 'decimal', 'bigint', 'text'`],
    [{ prefix: 'Order' }, 'prefix = "Order": '],
    [{ codec: 'base99' }, 'codec = "base99": must be a codec or the name of one: decimal, '],
    [{ prefix: 'order', codec: 'base64url' }, 'codec = "base64url": writes _ in IDs'],
    [{ prefx: 'order' }, 'prefx = (string): is not an option; did you mean prefix?'],
  ])('refuses the options %p at once', (options, message) => {
    const make = (): unknown => idSchema(options as IdSchemaOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});
