import {
  BadRequestException,
  HttpStatus,
  NotFoundException,
  ParseArrayPipe,
  type ArgumentMetadata,
} from '@nestjs/common';
import { base58, codecs, ConfigurationError, typedId, type CodecName, type TypedId } from '@raindrop/core';
import { ParseIdPipe, type ParseIdPipeOptions } from './parse-id.pipe.js';

const at: ArgumentMetadata = { type: 'param', data: 'id', metatype: String };
const id = 30_077_675_337_940_996n;
const order = typedId('order').encode(id);

function refusal(pipe: { transform(value: unknown, metadata: ArgumentMetadata): unknown }, value: unknown): unknown {
  try {
    return pipe.transform(value, at);
  } catch (error) {
    return error;
  }
}

describe('ParseIdPipe', () => {
  it.each<[ParseIdPipeOptions | undefined, string, string | bigint]>([
    [undefined, '0', '0'],
    [undefined, '9223372036854775807', '9223372036854775807'],
    [{}, '30077675337940996', '30077675337940996'],
    [{ as: 'text' }, '12', '12'],
    [{ as: 'bigint' }, '30077675337940996', id],
    [{ codec: 'base62' }, codecs.base62.encode(id), '30077675337940996'],
    [{ codec: 'base62', as: 'bigint' }, codecs.base62.encode(id), id],
    [{ codec: base58, as: 'text' }, base58.encode(id), base58.encode(id)],
    [{ prefix: 'order' }, order, order],
    [{ prefix: 'order', as: 'decimal' }, order, '30077675337940996'],
    [{ prefix: 'order', as: 'bigint' }, order, id],
    [{ prefix: 'order', codec: 'hex', as: 'bigint' }, `order_${id.toString(16)}`, id],
  ])('with %p reads %s as %p', (options, text, expected) => {
    expect(new ParseIdPipe(options).transform(text, at)).toBe(expected);
  });

  it("reads a list, such as Nest's ParseArrayPipe gives of ids=12,13, with each", async () => {
    const list: unknown = await new ParseArrayPipe().transform('12,13', at);
    const ids: string[] = new ParseIdPipe({ each: true }).transform(list, at);
    expect(ids).toEqual(['12', '13']);
    const numbers: bigint[] = new ParseIdPipe({ each: true, as: 'bigint' }).transform(list, at);
    expect(numbers).toEqual([12n, 13n]);
    expect(new ParseIdPipe({ each: true, optional: true }).transform(undefined, at)).toBeUndefined();
    expect(refusal(new ParseIdPipe({ each: true }), ['12', '013'])).toMatchObject({
      status: 400,
      message: expect.stringContaining('id[1] must be 1 to 19') as string,
    });
    for (const value of ['12', undefined, { 0: '12' }])
      expect(refusal(new ParseIdPipe({ each: true }), value)).toMatchObject({
        status: 400,
        message: expect.stringContaining('id must be a list') as string,
      });
  });

  it.each(Object.keys(codecs) as CodecName[])('reads what %s writes', (codec) => {
    expect(new ParseIdPipe({ codec, as: 'bigint' }).transform(codecs[codec].encode(id), at)).toBe(id);
  });

  const rubbish: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['an empty text', ''],
    ['a word', 'abc'],
    ['a sign', '-1'],
    ['a plus', '+1'],
    ['a leading zero', '01'],
    ['a fraction', '1.0'],
    ['an exponent', '1e3'],
    ['hexadecimal', '0x10'],
    ['white space', ' 1'],
    ['a line break', '1\n'],
    ['2^63', '9223372036854775808'],
    ['twenty digits', '1'.repeat(20)],
    ['a million digits', '1'.repeat(1_000_000)],
    ['other digits', '１２'],
    ['NUL', '1\0'],
    ['a script', '<script>alert(1)</script>'],
    ['a number', 1],
    ['a bigint', 1n],
    ['a list', ['1']],
    ['an object', { toString: () => '1' }],
    ['true', true],
  ];

  it.each(rubbish)('answers %s with a 400 that says what is legal and repeats nothing', (_, value) => {
    const error = refusal(new ParseIdPipe(), value);
    expect(error).toBeInstanceOf(BadRequestException);
    expect((error as BadRequestException).getResponse()).toEqual({
      statusCode: 400,
      error: 'Bad Request',
      message: 'id must be 1 to 19 characters of 0-9, without a leading 0, up to 9223372036854775807 (2^63 - 1)',
    });
  });

  it.each<[string, unknown]>([
    ...rubbish,
    ['digits', '30077675337940996'],
    ['another prefix', typedId('user').encode(id)],
    ['the prefix alone', 'order_'],
    ['a letter too few', order.slice(0, -1)],
    ['a letter too many', `${order}0`],
    ['another case', order.toUpperCase()],
    ['an ID past the end', 'order_AzL8n0Y58m8'],
  ])('refuses %s where an order is asked for', (_, value) => {
    const error = refusal(new ParseIdPipe({ prefix: 'order' }), value) as BadRequestException;
    expect(error.getStatus()).toBe(400);
    expect(error.message).toMatch(/^id must be order_ followed by exactly 11 characters of 0-9A-Za-z, /);
  });

  it('names the parameter, or where it looked when it has no name', () => {
    const message = (metadata: ArgumentMetadata): unknown => {
      try {
        return new ParseIdPipe().transform('x', metadata);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(message({ type: 'query', data: 'after' })).toMatch(/^after must be /);
    expect(message({ type: 'body' })).toMatch(/^body must be /);
  });

  it('passes what is absent when it is optional, and nothing else', () => {
    const pipe = new ParseIdPipe({ optional: true, as: 'bigint' });
    expect(pipe.transform(undefined, at)).toBeUndefined();
    expect(pipe.transform(null, at)).toBeNull();
    expect(pipe.transform('7', at)).toBe(7n);
    for (const value of ['', 'null', 0, false]) expect(refusal(pipe, value)).toBeInstanceOf(BadRequestException);
  });

  it('answers with another status or exception when told to', () => {
    const notFound = new ParseIdPipe({ errorHttpStatusCode: HttpStatus.NOT_FOUND });
    expect(refusal(notFound, 'x')).toBeInstanceOf(NotFoundException);
    const own = new ParseIdPipe({ exceptionFactory: (message) => ({ mine: message.slice(0, 10) }) });
    expect(refusal(own, 'x')).toEqual({ mine: 'id must be' });
  });

  it("passes on what a codec of one's own throws, unless it is an InvalidIdError", () => {
    const decode = (): never => {
      throw new RangeError('broken');
    };
    const pipe = new ParseIdPipe({ codec: { ...base58, name: 'mine', decode } });
    expect(refusal(pipe, 'x')).toEqual(new RangeError('broken'));
    expect((refusal(pipe, 1) as Error).message).toBe('id must be an ID in mine');
  });

  it.each<[unknown, string]>([
    [{ codec: undefined }, 'part of an import cycle'],
    [{ as: 'number' }, `as = "number": must be one of 'decimal', 'bigint', 'text'`],
    [{ prefix: 'Order' }, 'prefix = "Order": '],
    [{ prefix: '' }, 'prefix = "": '],
    [{ codec: 'base99' }, 'codec = "base99": must be a codec or the name of one: decimal, '],
    [{ prefix: 'order', codec: {} }, 'codec = an object: '],
    [{ codec: null }, 'codec = null: '],
    [{ optional: 1 }, 'optional = 1: must be true or false'],
    [{ errorHttpStatusCode: 200 }, 'errorHttpStatusCode = 200: '],
    [{ errorHttpStatusCode: ['404'] }, 'errorHttpStatusCode = an array: '],
    [{ prefix: 'order', codec: 'base64url' }, 'codec = "base64url": writes _ in IDs'],
    [{ exceptionFactory: 'x' }, 'exceptionFactory = "x": must be a function'],
    [{ prefx: 'order' }, 'prefx = (string): is not an option; did you mean prefix?'],
  ])('refuses the options %p at once', (options, message) => {
    const make = (): unknown => new ParseIdPipe(options as ParseIdPipeOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });

  it('says by its type what a handler gets', () => {
    const asDefault: string = new ParseIdPipe().transform('1', at);
    const asBigInt: bigint = new ParseIdPipe({ as: 'bigint' }).transform('1', at);
    const asTyped: TypedId<'order'> = new ParseIdPipe({ prefix: 'order' }).transform(order, at);
    const asDecimal: string = new ParseIdPipe({ prefix: 'order', as: 'decimal' }).transform(order, at);
    const maybe: bigint | null | undefined = new ParseIdPipe({ as: 'bigint', optional: true }).transform(null, at);
    // @ts-expect-error it may be absent
    const certain: string = new ParseIdPipe({ optional: true }).transform('1', at);
    const options: ParseIdPipeOptions = {};
    // @ts-expect-error options of which nothing is known: it may be a bigint
    const vague: string = new ParseIdPipe(options).transform('1', at);
    expect([asDefault, asBigInt, asTyped, asDecimal, maybe, certain, vague]).toEqual([
      '1',
      1n,
      order,
      id.toString(),
      null,
      '1',
      '1',
    ]);
  });
});
