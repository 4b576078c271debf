import { isSameKey, keepsKey, keyUpdateRefused } from './upserts';

const update = { tables: ['orders', 'shop.orders'], column: 'id', isFoundByKey: false };

it.each(['id', 'ID', 'orders.id', ' "orders" . "id" ', '`id`', 'shop.orders.id', 'last_insert_id(id)'])(
  'keeps a key that is set to itself: %s',
  (sql) => expect(keepsKey({ ...update, sql })).toBe(true),
);

it.each([
  'excluded.id',
  'values(id)',
  'new.id',
  'coalesce(id, excluded.id)',
  'lines.id',
  'orders.id + 1',
  "'5'",
  '?',
  '',
])('does not keep a key that is set to %s', (sql) => expect(keepsKey({ ...update, sql })).toBe(false));

it('keeps a key that is set to the one by which the row was found, and no other', () => {
  const found = { ...update, isFoundByKey: true };
  expect(keepsKey({ ...found, sql: 'EXCLUDED."id"' })).toBe(true);
  expect(keepsKey({ ...found, sql: 'excluded.name' })).toBe(false);
  expect(keepsKey({ ...found, value: 5n, given: ['5', 5] })).toBe(true);
  expect(keepsKey({ ...found, value: 5n, given: ['5', '6'] })).toBe(false);
  expect(keepsKey({ ...found, value: 5n, given: [] })).toBe(false);
  expect(keepsKey({ ...found, value: 5n })).toBe(false);
  expect(keepsKey({ ...update, value: 5n, given: ['5'] })).toBe(false);
});

it('takes objects for no keys: two placeholders are not the same value', () => {
  const placeholder = {};
  expect(keepsKey({ ...update, isFoundByKey: true, value: placeholder, given: [{}] })).toBe(false);
});

it.each<[unknown, unknown, boolean]>([
  ['5', 5n, true],
  [5, '5', true],
  ['5', '6', false],
  [JSON.parse('{"toString":1}'), '5', false],
  ['5', Object.create(null), false],
  [Symbol('5'), Symbol('5'), false],
  [null, null, false],
])('compares keys by their text, and calls nothing on what is none (%#)', (a, b, isSame) => {
  expect(isSameKey(a, b)).toBe(isSame);
});

it('says which key, and what to write', () => {
  expect(keyUpdateRefused('orders.id', 'Leave it out.')).toMatchObject({
    errorCode: 'INSERT_REFUSED',
    why: 'key-update',
    message:
      'orders.id would be changed in the row that this upsert finds, and what refers to it would be lost. Leave it out.',
  });
});
