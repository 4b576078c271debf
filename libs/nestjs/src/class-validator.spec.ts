import { ValidationPipe } from '@nestjs/common';
import { Expose, Transform, Type } from 'class-transformer';
import { IsArray, validateSync } from 'class-validator';
import { ConfigurationError, typedId, type TypedId } from '@raindrop/core';
import { IsSnowflake, type IsSnowflakeOptions } from './class-validator.js';

const id = 30_077_675_337_940_996n;
const LEGAL = '1 to 19 characters of 0-9, without a leading 0, up to 9223372036854775807 (2^63 - 1)';

function complaints(decorate: PropertyDecorator, value: unknown, groups?: string[]): Record<string, string> {
  class Query {
    constructor(readonly after: unknown) {}
  }
  decorate(Query.prototype, 'after');
  const [error] = validateSync(new Query(value), { ...(groups && { groups }), forbidUnknownValues: false });
  return error?.constraints ?? {};
}

describe('@IsSnowflake()', () => {
  it.each<[IsSnowflakeOptions | undefined, unknown]>([
    [undefined, '0'],
    [undefined, '9223372036854775807'],
    [{ as: 'text' }, '12'],
    [{ as: 'bigint' }, 0n],
    [{ as: 'bigint' }, 2n ** 63n - 1n],
    [{ codec: 'hex' }, 'ff'],
    [{ prefix: 'order' }, typedId('order').encode(id)],
    [{ prefix: 'order', codec: 'decimal' }, 'order_12'],
  ])('with %p accepts %p', (options, value) => {
    expect(complaints(IsSnowflake(options), value)).toEqual({});
  });

  it.each<[IsSnowflakeOptions | undefined, unknown, string]>([
    [undefined, '01', LEGAL],
    [undefined, '', LEGAL],
    [undefined, '9223372036854775808', LEGAL],
    [undefined, '1'.repeat(1_000_000), LEGAL],
    [undefined, 12, LEGAL],
    [undefined, 12n, LEGAL],
    [undefined, null, LEGAL],
    [undefined, undefined, LEGAL],
    [undefined, ['12'], LEGAL],
    [{ as: 'bigint' }, '12', 'a bigint from 0 to 9223372036854775807'],
    [{ as: 'bigint' }, -1n, 'a bigint from 0 to 9223372036854775807'],
    [{ as: 'bigint' }, 2n ** 63n, 'a bigint from 0 to 9223372036854775807'],
    [{ codec: 'hex' }, 'FF', '1 to 16 characters of 0-9a-f, without a leading 0, up to 7fffffffffffffff (2^63 - 1)'],
    [
      { prefix: 'order' },
      typedId('user').encode(id),
      'order_ followed by exactly 11 characters of 0-9A-Za-z, padded with leading 0, up to AzL8n0Y58m7 (2^63 - 1)',
    ],
  ])('with %p refuses %p and says what is legal', (options, value, legal) => {
    expect(complaints(IsSnowflake(options), value)).toEqual({ isSnowflake: `after must be ${legal}` });
  });

  it('checks every item with each', () => {
    const each = IsSnowflake({}, { each: true });
    expect(complaints(each, ['1', '2'])).toEqual({});
    expect(complaints(each, ['1', 'x'])).toEqual({ isSnowflake: `each value in after must be ${LEGAL}` });
  });

  it('takes a single text with each, and not with @IsArray() beside it', () => {
    const each = IsSnowflake({}, { each: true });
    expect(complaints(each, '1')).toEqual({});
    const list: PropertyDecorator = (target, property) => [each, IsArray()].forEach((one) => one(target, property));
    expect(complaints(list, '1')).toEqual({ isArray: 'after must be an array' });
    expect(complaints(list, ['1', '2'])).toEqual({});
  });

  it('keeps to its groups', () => {
    const grouped = IsSnowflake({}, { groups: ['update'] });
    expect(complaints(grouped, 'x', ['create'])).toEqual({});
    expect(complaints(grouped, 'x', ['update'])).toHaveProperty('isSnowflake');
  });

  it('takes a message of its own, which can say what is legal', () => {
    const own = IsSnowflake({ as: 'bigint' }, { message: '$property? $constraint1!' });
    expect(complaints(own, 1)).toEqual({ isSnowflake: 'after? a bigint from 0 to 9223372036854775807!' });
  });

  it.each<[unknown, string]>([
    [{ as: 'bigint', prefix: 'order' }, `prefix = "order": is for strings; omit it with as: 'bigint'`],
    [{ as: 'number' }, `as = "number": must be one of 'text', 'bigint'`],
    [{ prefix: 'Order' }, 'prefix = "Order": '],
    [{ message: 'x' }, 'message = (string): is not an option'],
  ])('refuses the options %p at once', (options, message) => {
    expect(() => IsSnowflake(options as IsSnowflakeOptions)).toThrow(ConfigurationError);
    expect(() => IsSnowflake(options as IsSnowflakeOptions)).toThrow(message);
  });

  it('can be written on a property of a typed ID', () => {
    class Order {
      @IsSnowflake({ prefix: 'order' })
      readonly id!: TypedId<'order'>;
    }
    expect(validateSync(new Order())).toHaveLength(1);
  });
});

describe('@IsSnowflake() behind a ValidationPipe', () => {
  class One {
    @IsSnowflake()
    readonly id!: string;
  }
  class Named {
    @IsSnowflake()
    @Expose({ name: 'order_id' })
    readonly id!: string;
  }
  class Typed {
    @Type(() => String)
    @IsSnowflake()
    readonly id!: string;
  }
  class Trimmed {
    @Transform(({ value }) => (typeof value === 'string' ? value.trim() : (value as unknown)))
    @IsSnowflake()
    readonly id!: string;
  }
  class Many {
    @IsSnowflake({}, { each: true })
    readonly ids!: string[];
  }
  class ManyTyped {
    @Type(() => String)
    @IsSnowflake({}, { each: true })
    readonly ids!: string[];
  }
  class Distinct {
    @IsSnowflake({}, { each: true })
    @Type(() => String)
    readonly ids!: Set<string>;
  }
  class Short {
    @IsSnowflake({ codec: 'base62' })
    readonly id!: string;
  }

  const pipes = [false, true].map(
    (enableImplicitConversion) =>
      [
        enableImplicitConversion,
        new ValidationPipe({ transform: true, transformOptions: { enableImplicitConversion } }),
      ] as const,
  );
  // As JSON.parse() gives what a client sent with one digit more.
  const { rounded } = JSON.parse('{"rounded":30184703125356549}') as { rounded: number };

  describe.each(pipes)('with enableImplicitConversion: %p', (_, pipe) => {
    it.each<[new () => object, object]>([
      [One, { id: rounded }],
      [One, { id: 12 }],
      [One, { id: ['12'] }],
      [Named, { order_id: rounded }],
      [Typed, { id: rounded }],
      [Typed, { id: 12 }],
      [Trimmed, { id: rounded }],
      [Many, { ids: ['12', rounded] }],
      [Many, { ids: rounded }],
      [ManyTyped, { ids: ['12', rounded] }],
      [Distinct, { ids: [rounded, '12'] }],
      [Short, { id: true }],
      [Short, { id: 12 }],
    ])('%p refuses %j: it is no text as it was sent', async (metatype, sent) => {
      await expect(pipe.transform(sent, { type: 'body', metatype })).rejects.toMatchObject({ status: 400 });
    });

    it.each<[new () => object, object, object]>([
      [One, { id: '30184703125356549' }, { id: '30184703125356549' }],
      [Named, { order_id: '30184703125356549' }, { id: '30184703125356549' }],
      [Typed, { id: '12' }, { id: '12' }],
      [Trimmed, { id: ' 12' }, { id: '12' }],
      [Many, { ids: ['12', '13'] }, { ids: ['12', '13'] }],
      [ManyTyped, { ids: ['12', '13'] }, { ids: ['12', '13'] }],
      [Distinct, { ids: ['12', '13'] }, { ids: new Set(['12', '13']) }],
      [Short, { id: 'true' }, { id: 'true' }],
    ])('%p takes %j', async (metatype, sent, taken) => {
      expect({ ...((await pipe.transform(sent, { type: 'body', metatype })) as object) }).toEqual(taken);
    });
  });

  describe('calls nothing on what a client sent', () => {
    class Prefixed {
      @IsSnowflake({ prefix: 'order' })
      readonly id!: TypedId<'order'>;
    }
    class Big {
      @IsSnowflake({ as: 'bigint' })
      readonly id!: bigint;
    }
    class ManyBig {
      @IsSnowflake({ as: 'bigint' }, { each: true })
      readonly ids!: bigint[];
    }
    const hostile: [string, unknown][] = [
      ...['{"toString":1}', '{"toString":1,"valueOf":1}', '{"length":-1}', '{"then":1}', '{"constructor":1}'],
      ...['{"__proto__":[]}', '{}', '[]', 'null'],
    ].map((json) => [json, JSON.parse(json) as unknown]);
    hostile.push(['Object.create(null)', Object.create(null)], ['Symbol()', Symbol('x')]);

    describe.each(pipes)('with enableImplicitConversion: %p', (_, pipe) => {
      const refused = async (metatype: new () => object, sent: object): Promise<unknown> =>
        pipe.transform(sent, { type: 'body', metatype }).then(
          () => 'accepted',
          (error: { status?: number }) => error.status ?? error,
        );

      it.each(hostile)('%s is a 400', async (_name, value) => {
        for (const metatype of [One, Trimmed, Short, Prefixed, Big]) {
          expect([metatype.name, await refused(metatype, { id: value })]).toEqual([metatype.name, 400]);
          expect([metatype.name, await refused(metatype, { id: [value] })]).toEqual([metatype.name, 400]);
        }
        expect(await refused(Named, { order_id: value })).toBe(400);
        for (const metatype of [Many, ManyBig, Distinct]) {
          // A list without items has no item that is wrong.
          if (!Array.isArray(value))
            expect([metatype.name, await refused(metatype, { ids: value })]).toEqual([metatype.name, 400]);
          expect([metatype.name, await refused(metatype, { ids: [value] })]).toEqual([metatype.name, 400]);
        }
      });

      it('a @Type() above, which the documents advise against, makes class-transformer itself throw', async () => {
        class OnlyTyped {
          @Type(() => String)
          readonly id!: string;
        }
        const sent = JSON.parse('{"id":{"toString":1}}') as object;
        expect(await refused(OnlyTyped, sent)).toBeInstanceOf(TypeError);
        expect(await refused(Typed, sent)).toBeInstanceOf(TypeError);
      });

      it('takes bigints, one and many', async () => {
        expect(await pipe.transform({ id: 12n }, { type: 'body', metatype: Big })).toEqual({ id: 12n });
        expect(await pipe.transform({ ids: [1n, 2n] }, { type: 'body', metatype: ManyBig })).toEqual({ ids: [1n, 2n] });
      });
    });
  });

  it('does without class-transformer', () => {
    jest.isolateModules(() => {
      jest.doMock('class-transformer', () => {
        throw Object.assign(new Error("Cannot find module 'class-transformer'"), { code: 'MODULE_NOT_FOUND' });
      });
      const fresh = jest.requireActual<typeof import('./class-validator.js')>('./class-validator.js');
      expect(() => fresh.IsSnowflake()(class {}.prototype, 'id')).not.toThrow();
      jest.dontMock('class-transformer');
    });
  });
});
