import 'reflect-metadata';
import ts from 'typescript';
import { Column, getMetadataArgsStorage, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { callOf } from '@raindrop/node/internal';
import { GeneratedSnowflake, snowflakeColumn } from './generated-snowflake.decorator.js';
import { UnsupportedColumnError } from './snowflake-errors.js';
import { markOf } from './snowflake-transformer.js';

describe('@GeneratedSnowflake() options', () => {
  class Sample {
    @GeneratedSnowflake()
    text!: string;

    @GeneratedSnowflake({ primary: false, nullable: true, name: 'n', unique: true })
    number?: number;

    @GeneratedSnowflake({ service: 'orders', code: 'invoice' })
    big!: bigint;

    @GeneratedSnowflake({ primary: false })
    union!: string | number;

    @GeneratedSnowflake({ primary: false, as: 'number' })
    explicit!: number | null;
  }

  const column = (property: keyof Sample) =>
    getMetadataArgsStorage().columns.find((each) => each.target === Sample && each.propertyName === property)!.options;

  it('makes a bigint primary key that no update writes', () => {
    expect(column('text')).toMatchObject({ primary: true, type: 'bigint', update: false });
  });

  it.each<[keyof Sample, string]>([
    ['text', 'string'],
    ['number', 'number'],
    ['big', 'bigint'],
    ['union', 'string'],
    ['explicit', 'number'],
  ])('gives %s the type of its property: %s', (property, as) => {
    expect(markOf(column(property).transformer)?.as).toBe(as);
  });

  it('hands TypeORM its own options, and keeps service and code', () => {
    expect(column('number')).toMatchObject({ primary: false, nullable: true, name: 'n', unique: true });
    expect(markOf(column('big').transformer)).toMatchObject({
      service: 'orders',
      code: 'invoice',
      as: 'bigint',
    });
    expect(markOf(column('text').transformer)).toMatchObject({ service: 'default', code: undefined, as: 'string' });
  });

  it.each([
    [true, 'raindrop_id()'],
    ['next_id', 'next_id()'],
    ['Shop.nextId', '"Shop"."nextId"()'],
  ])('keeps databaseDefault: %s in its mark, where TypeORM copies it to no other class', (databaseDefault, call) => {
    const { transformer, ...column } = snowflakeColumn({ databaseDefault });
    expect(callOf(markOf(transformer)!.databaseDefault!)).toBe(call);
    expect('default' in column).toBe(false);
    expect(markOf(snowflakeColumn({ databaseDefault: false }).transformer)!.databaseDefault).toBeUndefined();
  });

  it('says that the compiler lacks experimentalDecorators', () => {
    const text = 'class Order { @GeneratedSnowflake() id!: string; }';
    const run = (experimentalDecorators: boolean): void => {
      const compilerOptions = { target: ts.ScriptTarget.ES2022, experimentalDecorators };
      const { outputText } = ts.transpileModule(text, { compilerOptions });
      // The text that the compiler wrote is what is to be run here.
      // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
      new Function('GeneratedSnowflake', outputText)(GeneratedSnowflake);
    };
    expect(() => run(false)).toThrow(UnsupportedColumnError);
    expect(() => run(false)).toThrow(/on id: the compiler has not set experimentalDecorators.* tsconfig\.json\.$/);
    expect(() => run(true)).not.toThrow();
  });

  it.each([
    ['PrimaryGeneratedColumn', PrimaryGeneratedColumn],
    ['PrimaryColumn', () => PrimaryColumn('bigint')],
    ['Column', () => Column('bigint')],
  ])('refuses @%s below it, which TypeORM would take in its place', (_, Other: () => PropertyDecorator) => {
    class Twice {}
    Other()(Twice.prototype, 'id');
    expect(() => GeneratedSnowflake()(Twice.prototype, 'id')).toThrow(
      /on Twice\.id: another column decorator is below it, .* Remove it/,
    );
  });

  it('may stand anew on a property of a derived class', () => {
    class Base {}
    class Derived extends Base {}
    GeneratedSnowflake({ as: 'string' })(Base.prototype, 'id');
    expect(() => GeneratedSnowflake({ as: 'string' })(Derived.prototype, 'id')).not.toThrow();
  });

  it.each<[string, object, RegExp]>([
    ['an unknown option', { type: 'varchar' }, /type is not an option/],
    ['a mistyped option', { servce: 'orders' }, /servce is not an option; did you mean service\?/],
    ['another as', { as: 'Date' }, /as must be 'string', 'number' or 'bigint'/],
    ['a nullable key', { nullable: true }, /cannot be nullable/],
    ['a primary that is no boolean', { primary: 'no' }, /primary must be true or false/],
    ['an empty service', { service: '' }, /service must be/],
    ['a prefix that cannot be', { prefix: 'Order' }, /prefix must be 1 to 31 characters a-z/],
    ['a prefix for another type', { prefix: 'order', as: 'bigint' }, /prefix requires a string property, not a bigint/],
    ['several at once', { service: '', primary: 1, pefix: 'a' }, /primary must .*; service must .*; pefix is not/],
    [
      'a call as the name of a function',
      { databaseDefault: 'next_id()' },
      /databaseDefault must be true, false, or the/,
    ],
    ['a name with a quote', { databaseDefault: `a"; DROP TABLE orders` }, /databaseDefault must be .* without \(\):/],
    [
      'a name of three parts',
      { databaseDefault: 'a.b.c' },
      /'function' or 'schema\.function', each of 1 to 63 letters/,
    ],
    ['a number as the function', { databaseDefault: 1 }, /databaseDefault must be true, false/],
    ['a code that is too long', { code: 'x'.repeat(129) }, /1 to 128 characters/],
  ])('refuses %s', (_, options, message) => {
    expect(() => snowflakeColumn(options)).toThrow(UnsupportedColumnError);
    expect(() => snowflakeColumn(options)).toThrow(message);
  });

  it('names the property when its type does not fit', () => {
    const decorate = (type: unknown, options = {}): void => {
      class Wrong {}
      Reflect.defineMetadata('design:type', type, Wrong.prototype, 'id');
      GeneratedSnowflake(options)(Wrong.prototype, 'id');
    };
    expect(() => decorate(Date)).toThrow(/Wrong\.id: the property is a Date/);
    expect(() => decorate(String, { as: 'number' })).toThrow(/Wrong\.id: as is 'number', but the property is a string/);
    expect(() => decorate(Object, { as: 'bigint' })).not.toThrow();
  });
});
