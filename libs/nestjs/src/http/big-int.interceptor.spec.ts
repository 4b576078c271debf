import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { lastValueFrom, of } from 'rxjs';
import { Readable, Writable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { BigIntInterceptor, bigIntsToStrings } from './big-int.interceptor.js';

it.each([
  ['http', ['1']],
  ['rpc', [1n]],
  ['graphql', [1n]],
])('BigIntInterceptor answers %s with %p', async (type, expected) => {
  const context = new ExecutionContextHost([]);
  context.setType(type);
  const answer = new BigIntInterceptor().intercept(context, { handle: () => of([1n]) });
  expect(await lastValueFrom(answer)).toEqual(expected);
});

const id = 2n ** 63n - 1n;

const text = '9223372036854775807';

class Line {
  constructor(
    readonly id: bigint | string,
    readonly sku: string,
  ) {}
}

describe('bigIntsToStrings', () => {
  it.each<[string, unknown, unknown]>([
    ['a bigint', id, text],
    ['a negative one', -5n, '-5'],
    ['one in an object', { id, n: 1 }, { id: text, n: 1 }],
    ['one in a list', [1, id, 'x'], [1, text, 'x']],
    ['deep ones', { a: [{ b: { c: [id] } }], d: null }, { a: [{ b: { c: [text] } }], d: null }],
    ['one in an object without a prototype', Object.assign(Object.create(null) as object, { id }), { id: text }],
    ['one shared by two places', ((each) => [each, each])({ id }), [{ id: text }, { id: text }]],
  ])('writes %s as decimal text', (_, value, expected) => {
    expect(JSON.stringify(bigIntsToStrings(value))).toBe(JSON.stringify(expected));
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'x'],
    ['a number', 1],
    ['an object', { a: [1, { b: 'x' }], not: NaN }],
    ['a list with NaN', [NaN, -0, 0]],
    ['an instance', new Line('1', 'tea')],
    ['a Date', new Date(0)],
    ['an invalid Date', new Date(NaN)],
    ['a Buffer', Buffer.from('x')],
    ['bytes', new Uint8Array(8)],
    ['64-bit integers', new BigInt64Array(2)],
    ['a Map', new Map([[1, id]])],
    ['a Set', new Set([id])],
    ['a stream', Readable.from(['x'])],
    ['a file', new StreamableFile(Buffer.from('x'))],
    ['a web response', new Response('x')],
    ['a promise', Object.assign(Promise.resolve(1), { id })],
    ['an async iterable', { [Symbol.asyncIterator]: () => ({}), id }],
    ['what writes itself', { id, toJSON: () => 'mine' }],
    ['a function', () => id],
  ])('returns %s as it is', (_, value) => {
    expect(bigIntsToStrings(value)).toBe(value);
    expect(bigIntsToStrings([value, { value }])).toEqual([value, { value }]);
  });

  it('looks at nothing in a stream', () => {
    const stream = new Writable();
    const read = jest.fn();
    Object.defineProperty(stream, 'socket', { enumerable: true, get: read });
    bigIntsToStrings({ stream });
    expect(read).not.toHaveBeenCalled();
  });

  it('copies only what holds a bigint, and changes nothing', () => {
    const plain = { b: [1] };
    const value = Object.freeze({ plain, line: Object.freeze({ id }), list: Object.freeze([plain, id]) });
    const converted = bigIntsToStrings(value) as typeof value;
    expect(converted).toEqual({ plain, line: { id: text }, list: [plain, text] });
    expect(converted.plain).toBe(plain);
    expect(converted.list[0]).toBe(plain);
    expect(value).toEqual({ plain, line: { id }, list: [plain, id] });
  });

  it('keeps the class of an instance without calling its constructor, and no inherited setter', () => {
    class Odd extends Line {
      set total(_: unknown) {
        throw new Error('called');
      }
    }
    const odd = Object.defineProperty(new Odd(id, 'tea'), 'total', { value: 2n, enumerable: true });
    const converted = bigIntsToStrings(odd) as Odd;
    expect(converted).toBeInstanceOf(Odd);
    expect({ ...converted }).toEqual({ id: text, sku: 'tea', total: '2' });
  });

  it('keeps __proto__ a key like any other', () => {
    const value = JSON.parse('{"__proto__":{"x":1},"id":1}', (_, each: unknown) => (each === 1 ? 1n : each)) as object;
    const converted = bigIntsToStrings(value) as object;
    expect(JSON.stringify(converted)).toBe('{"__proto__":{"x":"1"},"id":"1"}');
    expect(Object.getPrototypeOf(converted)).toBe(Object.prototype);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('keeps holes and undefined as JSON.stringify sees them', () => {
    expect(JSON.stringify(bigIntsToStrings([, undefined, id]))).toBe(`[null,null,"${text}"]`);
    expect(JSON.stringify(bigIntsToStrings({ a: undefined, id }))).toBe(`{"id":"${text}"}`);
  });

  it('leaves a cycle for JSON.stringify to refuse', () => {
    const value: { self?: unknown; n: number } = { n: 1 };
    value.self = [value];
    expect(bigIntsToStrings(value)).toBe(value);
    expect(() => JSON.stringify(bigIntsToStrings({ id, value }))).toThrow(/circular/i);
  });

  it.each(['objects', 'lists'])('does not overflow on %s of any depth', (kind) => {
    const nested = (depth: number, innermost: unknown): unknown => {
      let value = innermost;
      for (let i = 0; i < depth; i++) value = kind === 'lists' ? [value] : { value };
      return value;
    };
    const deep = nested(100_000, id);
    expect(bigIntsToStrings(deep)).toBe(deep);
    expect(JSON.stringify(bigIntsToStrings(nested(1_000, id)))).toContain(`"${text}"`);
  });
});

describe('Objects with a toJSON of their own', () => {
  /** As an ORM's instance: the fields are somewhere else. */
  class Row {
    constructor(readonly data: Record<string, unknown>) {}
    toJSON(): unknown {
      return { ...this.data };
    }
  }
  const json = (value: unknown): string => JSON.stringify(bigIntsToStrings(value));

  it.each<[string, unknown, unknown]>([
    ['an instance', new Row({ id, name: 'x' }), { id: text, name: 'x' }],
    ['one in a list and in an object', [{ row: new Row({ id }) }], [{ row: { id: text } }]],
    ['one in one', new Row({ child: new Row({ id }), n: 1 }), { child: { id: text }, n: 1 }],
    ['a list of them', new Row({ rows: [new Row({ id }), new Row({ n: 1 })] }), { rows: [{ id: text }, { n: 1 }] }],
    ['one that gives a bigint', { total: { toJSON: () => id } }, { total: text }],
    ['one that gives a list', { toJSON: () => [id, 1] }, [text, 1]],
    ['one that gives itself', { id, toJSON: (): unknown => ({ id }) }, { id: text }],
    ['a Map that writes itself', Object.assign(new Map([['id', id]]), { toJSON: () => ({ id }) }), { id: text }],
    [
      'one whose JSON has a toJSON, which JSON.stringify does not call',
      { toJSON: () => new Row({ id }) },
      { data: { id: text } },
    ],
    ['one that names its key', { a: { toJSON: (key: string) => [key, id] } }, { a: ['a', text] }],
    ['one of a list', [{ toJSON: (key: string) => [key, id] }], [['0', text]]],
    ['one alone', { toJSON: (key: string) => [key, id] }, ['', text]],
  ])('writes the bigints of %s', (_, value, expected) => {
    expect(JSON.parse(json(value))).toEqual(expected);
  });

  it('returns one without bigints as it is', () => {
    const row = new Row({ name: 'x', at: new Date(0), nested: new Row({ n: 1 }) });
    expect(bigIntsToStrings(row)).toBe(row);
  });

  it('copies what is frozen', () => {
    expect(json(Object.freeze({ id, toJSON: () => ({ id }) }))).toBe(`{"id":"${text}"}`);
  });

  it('keeps the class, the fields and the methods', () => {
    const row = new Row({ id });
    const copy = bigIntsToStrings(row) as Row;
    expect(copy).toBeInstanceOf(Row);
    expect(copy.data).toBe(row.data);
    expect(Object.keys(copy)).toEqual(['data']);
    expect(row.toJSON()).toEqual({ id });
  });

  it('stays an answer in JSON where the JSON is a text', async () => {
    const handle = { handle: () => of({ toJSON: () => id }) };
    const answer = await lastValueFrom(new BigIntInterceptor().intercept(new ExecutionContextHost([]), handle));
    expect(typeof answer).toBe('object');
    expect(JSON.stringify(answer)).toBe(`"${text}"`);
  });

  it('leaves a cycle for JSON.stringify to refuse', () => {
    const parent: Record<string, unknown> = { id };
    parent['child'] = new Row({ parent: new Row(parent) });
    expect(() => json(new Row(parent))).toThrow();
    const same: { id: bigint; toJSON(): unknown; self?: unknown } = { id, toJSON: () => same };
    expect(json(same)).toBe(`{"id":"${text}"}`);
    same.self = same;
    expect(() => json(same)).toThrow(TypeError);
  });

  it('asks each object once, also where its toJSON calls bigIntsToStrings()', () => {
    let calls = 0;
    class Own {
      constructor(readonly child?: Own) {}
      toJSON(): unknown {
        calls++;
        return bigIntsToStrings({ child: this.child, id });
      }
    }
    let own = new Own();
    for (let depth = 1; depth < 20; depth++) own = new Own(own);
    expect(bigIntsToStrings(own)).toBe(own);
    expect(calls).toBe(20);
  });

  it('passes on what a toJSON throws', () => {
    const broken = {
      toJSON: () => {
        throw new RangeError('theirs');
      },
    };
    expect(() => bigIntsToStrings([broken])).toThrow(new RangeError('theirs'));
    expect(json({ toJSON: () => id })).toBe(`"${text}"`);
  });
});
