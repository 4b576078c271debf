import { callOf, hasIdFunction, isCallOf, looksIssued } from './database-default.js';
import { dialectOf } from './supported-database.js';

describe('A default that PostgreSQL reports', () => {
  const raindrop = { schema: undefined, name: 'raindrop_id' };
  const shop = { schema: 'Shop', name: 'nextId' };

  it.each([
    [raindrop, 'raindrop_id()', false],
    [raindrop, '"raindrop_id"()', true],
    [shop, '"Shop"."nextId"()', false],
    [shop, '"nextId"()', true],
  ])('is a call of %j: %s', (idFunction, reported, isFound) => {
    expect(isCallOf(idFunction, reported, isFound)).toBe(true);
  });

  it.each([
    [raindrop, 'shop.raindrop_id()', true],
    [raindrop, 'shop.raindrop_id()', true],
    [raindrop, 'other_id()', true],
    [raindrop, 'raindrop_id(1)', true],
    [raindrop, 'raindrop_id() + 1', true],
    [raindrop, `nextval('raindrop_id'::regclass)`, true],
    [raindrop, '1', true],
    [shop, '"nextId"()', false],
    [shop, 'shop.nextid()', true],
    [shop, '"Shop"."nextId', true],
  ])('is none of %j: %s', (idFunction, reported, isFound) => {
    expect(isCallOf(idFunction, reported, isFound)).toBe(false);
  });

  it('looks like one of Raindrop by the name of the function', () => {
    expect(['raindrop_id()', 'shop.raindrop_id()', 'next_id()', '5'].map(looksIssued)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});

it.each([
  ['shop', 'next_id', 'shop.next_id()'],
  ['Shop', 'next_id', '"Shop".next_id()'],
  [undefined, 'nextId', '"nextId"()'],
  ['order', 'user', '"order"."user"()'],
])('The call of a function %s.%s has quotes where PostgreSQL needs them', (schema, name, call) => {
  expect(callOf({ schema, name })).toBe(call);
});

it('A function that issues IDs exists on PostgreSQL alone', () => {
  const types = ['postgres', 'mariadb', 'mysql', 'better-sqlite3'];
  expect(types.filter((type) => hasIdFunction(dialectOf(type)))).toEqual(['postgres']);
});
