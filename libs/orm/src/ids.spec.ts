import { ConfigurationError, UnsafeSnowflakeError } from '@raindrop/core';
import { NoOpenServiceError } from '@raindrop/node';
import { caught } from '../../../test/support/engine/caught.js';
import { Keys, type KeyIds, type KeyOptions } from './ids.js';

/** IDs from 2^53 on, which no number holds, and the codes that they were asked for. */
function largeIds(): KeyIds & { readonly codes: (string | undefined)[] } {
  const codes: (string | undefined)[] = [];
  let last = 2n ** 53n;
  const nextId = (code?: string): bigint => {
    codes.push(code);
    return ++last;
  };
  return { codes, nextId, nextString: (code) => nextId(code).toString() };
}

it('gives each form a new ID each time', () => {
  const ids = largeIds();
  expect(new Keys('orders.id', { ids }).next()).toBe('9007199254740993');
  expect(new Keys('orders.id', { ids, as: 'bigint' }).next()).toBe(9007199254740994n);
  expect(new Keys('orders.id', { ids, prefix: 'order' }).next()).toMatch(/^order_\w{11}$/);
  const small: KeyIds = { nextId: () => 7n, nextString: () => '7' };
  expect(new Keys('orders.id', { ids: () => small, as: 'number' }).next()).toBe(7);
});

it('asks for its code', () => {
  const ids = largeIds();
  new Keys('orders.id', { ids, code: 'order' }).next();
  new Keys('orders.id', { ids, code: 'order', as: 'bigint' }).next();
  new Keys('orders.id', { ids }).next();
  expect(ids.codes).toEqual(['order', 'order', undefined]);
});

it('refuses a number that would lose digits', () => {
  const error = caught(UnsafeSnowflakeError, () => new Keys('orders.id', { ids: largeIds(), as: 'number' }).next());
  expect(error).toMatchObject({ errorCode: 'UNSAFE_SNOWFLAKE', column: 'orders.id', origin: 'source' });
});

it('asks for the service when it needs an ID, not before', () => {
  const opened: KeyIds[] = [];
  const keys = new Keys('orders.id', { ids: () => opened[0], service: 'shop' });
  expect(caught(NoOpenServiceError, () => keys.next())).toMatchObject({
    errorCode: 'NO_OPEN_SERVICE',
    service: 'shop',
  });
  opened.push(largeIds());
  expect(keys.next()).toBe('9007199254740993');
});

it('takes many at once, and waits where the service says that it helps', async () => {
  const ids = largeIds();
  expect(new Keys('orders.id', { ids, as: 'bigint' }).take(2)).toEqual([9007199254740993n, 9007199254740994n]);
  const nextStrings = (count: number): string[] => Array.from({ length: count }, () => ids.nextString());
  expect(new Keys('orders.id', { ids: { ...ids, nextStrings } }).take(2)).toEqual([
    '9007199254740995',
    '9007199254740996',
  ]);
  const after = (error: Error, waiting: Partial<KeyIds>): Promise<readonly unknown[]> => {
    const fails = (): never => {
      throw error;
    };
    return new Keys('orders.id', { ids: { nextId: fails, nextString: fails, ...waiting } }).takeWaiting(2);
  };
  const later = { nextIdsAsync: (count: number) => Promise.resolve(Array.from({ length: count }, () => 7n)) };
  const retryable = Object.assign(new Error('used up'), { retryable: true });
  expect(await after(retryable, later)).toEqual(['7', '7']);
  await expect(after(retryable, {})).rejects.toBe(retryable);
  const permanent = Object.assign(new Error('closed'), { retryable: false });
  await expect(after(permanent, later)).rejects.toBe(permanent);
});

it('lets the errors of the service through', () => {
  const closed = new Error('closed');
  const fails = (): never => {
    throw closed;
  };
  const keys = new Keys('orders.id', { ids: { nextId: fails, nextString: fails } });
  expect(() => keys.next()).toThrow(closed);
});

it.each<[object, string]>([
  [{ ids: 7 }, 'orders.id: ids = 7: must be an IdService, or a function that returns one: ids: () => service'],
  [{ as: 'text' }, `orders.id: as = "text": must be one of 'string', 'bigint', 'number'`],
  [{ code: '' }, 'orders.id: code = "": must be a string of 1 to 128 characters'],
  [{ service: '' }, 'orders.id: service = "": must be the name of a service'],
  [{ as: 'bigint', prefix: 'order' }, 'requires a string property, not a bigint'],
  [{ prefix: 'Order' }, 'must be 1 to 31 characters a-z, 0-9 or _'],
  [{ codes: 'order' }, 'did you mean code?'],
])('refuses %p', (options, problem) => {
  expect(caught(ConfigurationError, () => new Keys('orders.id', options as KeyOptions)).message).toContain(problem);
});

describe('the largest ID', () => {
  const ids = (layout?: { bits: number }): KeyIds => ({ ...largeIds(), ...(layout !== undefined && { layout }) });

  it("is that of the service's layout, of 63 bits at most, and one that a number holds", () => {
    expect(new Keys('orders.id', { ids: ids({ bits: 60 }) }).largest()).toBe(2n ** 60n - 1n);
    expect(new Keys('orders.id', { ids: ids({ bits: 64 }) }).largest()).toBe(2n ** 63n - 1n);
    expect(new Keys('orders.id', { ids: ids() }).largest()).toBe(2n ** 63n - 1n);
    expect(new Keys('orders.id', { ids: ids({ bits: 63 }), as: 'number' }).largest()).toBe(2n ** 53n - 1n);
    expect(new Keys('orders.id', { ids: ids({ bits: 41 }), as: 'number' }).largest()).toBe(2n ** 41n - 1n);
  });

  it('of a service that is open comes before a layout that is given, and numbers from segments fit a number', () => {
    expect(new Keys('orders.id', { ids: ids({ bits: 60 }) }).largest({ bits: 53 })).toBe(2n ** 60n - 1n);
    expect(new Keys('orders.id', { service: 'elsewhere' }).largest({ bits: 53 })).toBe(2n ** 53n - 1n);
    expect(() => new Keys('orders.id', { service: 'elsewhere' }).largest()).toThrow(NoOpenServiceError);
    const segments = Object.defineProperty(largeIds(), 'layout', {
      get: () => {
        throw new Error('numbers from segments');
      },
    });
    expect(new Keys('orders.id', { ids: segments }).largest()).toBe(2n ** 53n - 1n);
    expect(new Keys('orders.id', { ids: largeIds() }).largest()).toBe(2n ** 63n - 1n);
  });
});

describe('The default of a key in the database', () => {
  const keysWith = (options: KeyOptions): Keys => new Keys('orders.id', options);

  it('is a call of the function on PostgreSQL', () => {
    expect(keysWith({}).defaultOn('postgres')).toBeUndefined();
    expect(keysWith({ databaseDefault: false }).defaultOn('mysql')).toBeUndefined();
    expect(keysWith({ databaseDefault: true }).defaultOn('postgres')).toBe('raindrop_id()');
    expect(keysWith({ databaseDefault: 'Shop.nextId' }).defaultOn('postgres')).toBe('"Shop"."nextId"()');
  });

  it.each([
    ['mysql', 'MariaDB or MySQL'],
    ['sqlite', 'SQLite'],
  ] as const)('is refused on %s', (database, name) => {
    const { problems } = caught(ConfigurationError, () => keysWith({ databaseDefault: true }).defaultOn(database));
    const message = expect.stringContaining(`is for PostgreSQL, and the database is ${name}`) as string;
    expect(problems).toEqual([{ option: 'orders.id: databaseDefault', given: 'raindrop_id()', message }]);
  });

  it('is refused where the database keeps typed IDs as texts', () => {
    const typed = keysWith({ databaseDefault: true, prefix: 'order' });
    expect(caught(ConfigurationError, () => typed.refuseTypedDefault()).message).toMatch(/number into a text column/);
    expect(() => keysWith({ databaseDefault: true }).refuseTypedDefault()).not.toThrow();
    expect(() => keysWith({ prefix: 'order' }).refuseTypedDefault()).not.toThrow();
  });

  it.each([['next_id()'], ['a.b.c'], ['a b'], [1], ['']])('is no name: %j', (databaseDefault) => {
    const error = caught(ConfigurationError, () => keysWith({ databaseDefault: databaseDefault as string }));
    expect(error.message).toMatch(/orders\.id: databaseDefault = .*: must be true, false, or the name of the function/);
  });
});
