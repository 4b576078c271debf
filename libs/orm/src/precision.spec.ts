import mysql from 'mysql2';
import mysqlPromise from 'mysql2/promise';
import { Pool } from 'pg';
import { DATABASES } from './databases.js';
import { Keys } from './ids.js';
import { firstOf, literalOf, RoundedIdsError, samplesOf, settingsOf, typedInBigint } from './precision.js';

const ID = 2n ** 63n - 1n;
const typeCast = (): number => 1;

/** Pools connect when they are first used. */
describe.each([
  ['mysql2', mysql.createPool],
  ['mysql2/promise', mysqlPromise.createPool],
] as const)('the setting of a pool of %s', (_, createPool) => {
  it.each<[object, RegExp]>([
    [{}, /^In the driver's options supportBigNumbers is off: set supportBigNumbers: true$/],
    [
      { supportBigNumbers: true, typeCast },
      /^In the driver's options typeCast is set: let it call next\(\) for LONGLONG$/,
    ],
    [{ typeCast }, /typeCast is set.*; supportBigNumbers is off/],
    [{ supportBigNumbers: true }, /^Let mysql2 deliver exact integers/],
  ])('is named: %p', async (options, cure) => {
    const pool = createPool({ host: '127.0.0.1', port: 1, ...options });
    try {
      expect(DATABASES.mysql.cureOf(settingsOf(pool))).toMatch(cure);
    } finally {
      await ('promise' in pool ? pool.promise().end() : pool.end());
    }
  });
});

it("names the parsers of pg's pool, or says where one may be", async () => {
  const getTypeParser = (oid: number): ((text: string) => unknown) => (oid === 20 ? Number : String);
  const pools = [new Pool({ types: { getTypeParser } }), new Pool()];
  const [own, plain] = pools.map((pool) => DATABASES.postgres.cureOf(settingsOf(pool)));
  expect(own).toMatch(/^The pool's own types make a number of int8/);
  expect(plain).toMatch(/types\.setTypeParser\(20, \.\.\.\), pg\.defaults\.parseInt8 or the types of the pool/);
  await Promise.all(pools.map((pool) => pool.end()));
});

it.each([undefined, null, {}, 7])('knows no settings of %p', (client) => {
  expect(settingsOf(client)).toBeUndefined();
  expect(DATABASES.mysql.cureOf(settingsOf(client))).toMatch(/^Let mysql2/);
  expect(DATABASES.sqlite.cureOf(settingsOf(client))).toMatch(/defaultSafeIntegers/);
});

it('sends a sample for each largest ID and each kind of column', () => {
  const keysOf = (bits: number): Keys => {
    const ids = { nextId: () => 1n, nextString: () => '1', layout: { bits } };
    return new Keys('orders.id', { ids });
  };
  const given = [
    { source: keysOf(63), isText: false },
    { source: keysOf(63), isText: true },
    { source: keysOf(53), isText: false },
    { source: keysOf(64), isText: false },
  ];
  const samples = samplesOf(given, {});
  expect(samples.map((each) => [literalOf(each), each.keys.length])).toEqual([
    ['9223372036854775807', 2],
    ["'9223372036854775807'", 1],
    ['9007199254740991', 1],
  ]);
});

it('reads JSON that is parsed or not', () => {
  expect([firstOf('[9223372036854775807]'), firstOf(['7']), firstOf('["7"]')]).toEqual([9223372036854775807, '7', '7']);
});

it('says what was sent, what came back and what to do', () => {
  const error = new RoundedIdsError('orders.id', 'json', String(ID), Number(ID), 'Cast it');
  expect(error).toMatchObject({ errorCode: 'ROUNDED_IDS', retryable: false, column: 'orders.id', path: 'json' });
  expect(error.message).toBe(
    'orders.id: the connection returns 9223372036854776000 (a number) for the ID 9223372036854775807 in JSON. Cast it.',
  );
});

it('names the key of typed IDs whose column is a bigint, also to `raindrop doctor`', () => {
  const { errorCode, message, problem, cure } = typedInBigint('orders.id', 'order');
  expect(errorCode).toBe('CONFIGURATION');
  expect(message).toContain("orders.id: prefix = 'order': writes texts such as order_0Cc4kqJ3WmY, but the column is");
  expect(problem).toBe("orders.id: prefix 'order' writes texts such as order_0Cc4kqJ3WmY, but the column is a bigint");
  expect(cure).toBe('Make the column a text, or leave `prefix` out');
});
