import { InvalidIdError, typedId, UnsafeSnowflakeError } from '@raindrop/core';
import { And, In, IsNull, LessThan, MoreThan, Not } from 'typeorm';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import { IdForm, type IdProperty } from '@raindrop/core/internal';
import { markOf, SnowflakeTransformer } from './snowflake-transformer.js';

const transformer = (as: IdProperty = 'string', prefix?: string): SnowflakeTransformer =>
  new SnowflakeTransformer({ place: () => 'orders.id', service: 'default', code: undefined, as, prefix });
const id = 9_007_199_254_740_993n;

describe('SnowflakeTransformer', () => {
  it.each<[IdProperty, unknown, unknown]>([
    ['string', '9007199254740993', '9007199254740993'],
    ['string', 12, '12'],
    ['string', id, '9007199254740993'],
    ['number', '12', 12],
    ['number', 12n, 12],
    ['bigint', '9007199254740993', id],
    ['bigint', 12, 12n],
    ['bigint', id, id],
    ['number', null, null],
    ['bigint', undefined, undefined],
  ])('reads as %s: %p is %p', (as, value, expected) => {
    expect(transformer(as).from(value)).toBe(expected);
  });

  it.each<[IdProperty, unknown]>([
    ['string', 2 ** 53],
    ['number', '9007199254740993'],
    ['number', id],
    ['number', 'abc'],
    ['bigint', 2 ** 60],
    ['bigint', 'abc'],
    ['string', 1.5],
  ])('refuses to read as %s: %p', (as, value) => {
    expect(() => transformer(as).from(value)).toThrow(UnsafeSnowflakeError);
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    [id, '9007199254740993'],
    [12, '12'],
    [null, null],
  ])('writes %p as %p', (value, expected) => {
    expect(transformer().to(value)).toBe(expected);
  });

  it.each(['12abc', '1e3', ' 77 ', '-5', '', '007', '9223372036854775808', -1n, 2n ** 63n])(
    'refuses to write %p',
    (value) => {
      expect(() => transformer().to(value)).toThrow(InvalidIdError);
    },
  );

  it.each([-5, 1.5])('refuses to write the number %p', (value) => {
    expect(() => transformer().to(value)).toThrow(UnsafeSnowflakeError);
  });

  it('refuses to write a number that has lost digits', () => {
    expect(() => transformer().to(2 ** 53)).toThrow(UnsafeSnowflakeError);
    expect(() => transformer().to(Number.NaN)).toThrow(UnsafeSnowflakeError);
  });

  it('turns a missing ID into an expression that throws when it is written', () => {
    const expression = transformer().to(undefined) as () => never;
    expect(expression).toThrow(SnowflakeNotAssignedError);
    expect(expression).toThrow(/attach\(dataSource\)/);
  });

  it('converts the values of find operators', () => {
    const within = In([id, 12]);
    expect(transformer().to(within)).toBe(within);
    expect(within.value).toEqual(['9007199254740993', '12']);
    const range = And(MoreThan(1n), LessThan(id));
    transformer().to(range);
    expect((range.value as unknown as { value: unknown }[]).map(({ value }) => value)).toEqual([
      '1',
      '9007199254740993',
    ]);
    expect(() => transformer().to(Not(IsNull()))).not.toThrow();
  });

  it('is told from other transformers, also by another copy of this package', () => {
    const foreign = { [Symbol.for('@raindrop/typeorm:snowflake')]: { service: 'x' }, to: () => 0, from: () => 0 };
    expect(markOf(foreign)).toEqual({ service: 'x' });
    expect(markOf({ to: () => 0, from: () => 0 })).toBeUndefined();
    expect(markOf(undefined)).toBeUndefined();
  });
});

describe('IdForm', () => {
  it('gives what the property holds, or refuses', () => {
    const of = (id: bigint, as: IdProperty): unknown => new IdForm(as).of(id, 'Order.id');
    expect([of(12n, 'string'), of(12n, 'number'), of(12n, 'bigint')]).toEqual(['12', 12, 12n]);
    expect(of(BigInt(Number.MAX_SAFE_INTEGER), 'number')).toBe(Number.MAX_SAFE_INTEGER);
    expect(() => of(2n ** 53n, 'number')).toThrow(UnsafeSnowflakeError);
  });

  it.each([
    [undefined, '12abc'],
    ['order', typedId('user').encode(id)],
  ])('names entity and property where a text with prefix %p is no ID: %p', (prefix, value) => {
    const form = new IdForm('string', prefix);
    for (const call of [() => form.write(value, 'Order.id'), () => form.compare(value, 'Order.id')]) {
      expect(call).toThrow(InvalidIdError);
      expect(call).toThrow(/^Order\.id: Not a valid ID/);
      expect(call).toThrow(expect.objectContaining({ column: 'Order.id', given: JSON.stringify(value) }) as Error);
    }
    expect(() => form.write(value)).toThrow(/^Not a valid ID/);
  });

  it('shows a typed text, and keeps decimal', () => {
    const form = new IdForm('string', 'order');
    const text = typedId('order').encode(id);
    expect(form.of(id)).toBe(text);
    expect([form.read('9007199254740993'), form.read(id), form.read(null)]).toEqual([text, text, null]);
    expect([form.write(text), form.write(id), form.write(null)]).toEqual([
      '9007199254740993',
      '9007199254740993',
      null,
    ]);
  });

  it.each(['9007199254740993', typedId('user').encode(id), 'order_', 'ORDER_0', ''])(
    'refuses to write %p as a typed text',
    (value) => {
      expect(() => new IdForm('string', 'order').write(value)).toThrow(InvalidIdError);
    },
  );

  it.each(['abc', '-1', '9223372036854775808', 2 ** 60])('refuses to read %p as a typed text', (value) => {
    expect(() => new IdForm('string', 'order').read(value)).toThrow(UnsafeSnowflakeError);
  });

  it('compares typed texts, and decimal ones', () => {
    const form = new IdForm('string', 'order');
    expect([form.compare(form.of(id)), form.compare('12')]).toEqual(['9007199254740993', '12']);
    expect(() => form.compare('user_0')).toThrow(InvalidIdError);
  });
});
