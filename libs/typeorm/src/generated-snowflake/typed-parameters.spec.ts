import { InvalidIdError, typedId } from '@raindrop/core';
import type { DataSource } from 'typeorm';
import type { GeneratedColumn } from './generated-column.js';
import { IdForm } from '@raindrop/core/internal';
import { TypedParameters } from './typed-parameters.js';

const order = (id: bigint): string => typedId('order').encode(id);
const user = (id: bigint): string => typedId('user').encode(id);
const item = (id: bigint): string => typedId('order_item').encode(id);

const orderId = { databaseName: 'id', type: 'bigint' };
const userId = { databaseName: 'user_id', type: 'bigint' };
const itemId = { databaseName: 'id', type: 'bigint' };

const dataSource = {
  entityMetadatas: [
    { tableName: 'o', columns: [orderId, userId] },
    { tableName: 'i', columns: [itemId] },
    {
      tableName: 'log',
      columns: [
        { databaseName: 'id', type: 'varchar' },
        { databaseName: 'ref', type: 'varchar' },
      ],
    },
  ],
} as unknown as DataSource;

const parameters = new TypedParameters(dataSource, [
  { column: orderId, form: new IdForm('string', 'order') } as unknown as GeneratedColumn,
  { column: userId, form: new IdForm('string', 'user') } as unknown as GeneratedColumn,
  { column: itemId, form: new IdForm('string', 'order_item') } as unknown as GeneratedColumn,
]);

const convert = (sql: string, ...values: unknown[]): unknown[] => {
  parameters.convert(sql, values);
  return values;
};

it.each<[string, unknown[], unknown[]]>([
  ['SELECT * FROM "o" WHERE "o"."id" = $1', [order(5n)], ['5']],
  ['SELECT * FROM o WHERE o.id = ?', [order(5n)], ['5']],
  ['SELECT * FROM `o` WHERE `o`.`id` IN (?, ?, ?)', [order(1n), 2, order(3n)], ['1', 2, '3']],
  ['SELECT * FROM "o" WHERE "id" NOT IN ($2) AND "user_id" <> $1', [user(1n), order(2n)], ['1', '2']],
  [
    'SELECT * FROM "o" WHERE "id" BETWEEN ? AND ? AND "user_id" >= ?',
    [order(1n), order(2n), user(3n)],
    ['1', '2', '3'],
  ],
  ['UPDATE "o" SET "user_id" = ? WHERE "id" = ?', [user(1n), order(2n)], ['1', '2']],
  [`SELECT '?''$1' FROM "o" WHERE "a?b" = ? AND "id" = ?`, [order(1n), order(2n)], [order(1n), '2']],
  ['SELECT "id" FROM "o" WHERE "name" = ?', [order(1n)], [order(1n)]],
  ['SELECT "id" FROM "log" WHERE "ref" = ?', [order(1n)], [order(1n)]],
  ['SELECT "id" FROM "log" WHERE "id" = ?', [order(1n)], [order(1n)]],
  [
    'SELECT 1 FROM "o" "a" JOIN "s"."log" AS "b" ON "a"."id" = ? AND "b"."id" = ?',
    [order(1n), order(2n)],
    ['1', order(2n)],
  ],
  ['SELECT 1 FROM o JOIN log l ON id = ?', [order(1n)], [order(1n)]],
  ['SELECT * FROM o JOIN log l ON o.id = $1 OR l.ref = $1', [order(1n)], ['1']],
  ['DELETE FROM `O` WHERE `id` = ?', [order(1n)], ['1']],
  ['DELETE FROM O WHERE ID = ?', [order(1n)], ['1']],
  ['SELECT * FROM o WHERE ? = o.id AND $2 <= "o"."user_id"', [order(1n), user(2n)], ['1', '2']],
  ['SELECT * FROM log WHERE ref = ? AND ? = ref', [order(1n), order(2n)], [order(1n), order(2n)]],
  ['SELECT * FROM o WHERE id = ANY($1) OR id IN (?)', [[order(1n), '2']], [['1', '2']]],
  [
    `SELECT * FROM o -- isn't it?\nWHERE id = /* whose? it's "x" */ ? AND user_id = ?`,
    [order(1n), user(2n)],
    ['1', '2'],
  ],
  ['SELECT * FROM i WHERE EXISTS (SELECT 1 FROM o WHERE id = ?) AND id = ?', [order(1n), item(2n)], ['1', '2']],
  ['SELECT * FROM o WHERE (id, user_id) = (?, ?)', [order(1n), user(2n)], ['1', '2']],
  ['SELECT * FROM o AS a WHERE (a.user_id, a.id) > ($2, $1)', [order(1n), user(2n)], ['1', '2']],
  [
    'SELECT * FROM o WHERE NOT (id, n, user_id) IN ((?, ?, ?), (?, ?, ?)) AND user_id = ?',
    [order(1n), 2, user(3n), order(4n), 5, user(6n), user(7n)],
    ['1', 2, '3', '4', 5, '6', '7'],
  ],
  ['SELECT * FROM o WHERE (id, n) IN (VALUES (?, ?), (?, ?))', [order(1n), 1, order(2n), 2], ['1', 1, '2', 2]],
  [
    'SELECT * FROM o WHERE (n, id) NOT IN (?)',
    [
      [
        [1, order(1n)],
        [2, order(2n)],
      ],
    ],
    [
      [
        [1, '1'],
        [2, '2'],
      ],
    ],
  ],
  ['SELECT * FROM o WHERE (?, ?) = (id, user_id)', [order(1n), user(2n)], ['1', '2']],
  ['SELECT * FROM o JOIN log l ON (l.id, o.id) = (?, ?)', [order(1n), order(2n)], [order(1n), '2']],
  ['SELECT * FROM o WHERE (id, user_id) IN (SELECT id, n FROM o WHERE user_id = ?)', [user(1n)], ['1']],
  ['SELECT * FROM o WHERE coalesce(user_id, id) = ?', [order(1n)], ['1']],
  ['UPDATE o SET (user_id, n) = (?, ?) WHERE id = ?', [user(1n), 2, order(3n)], ['1', 2, '3']],
  [
    "INSERT INTO o (n, id, user_id) VALUES (now(?), ?, ?), ('x', ?, DEFAULT) ON CONFLICT (id) DO UPDATE SET user_id = ?",
    [order(9n), order(1n), user(2n), order(3n), user(4n)],
    [order(9n), '1', '2', '3', '4'],
  ],
  ['INSERT INTO o (id) VALUES (?), (?)', [order(1n), order(2n)], ['1', '2']],
  ['INSERT INTO "log" ("id", "what") VALUES (?, ?)', [1, order(1n)], [1, order(1n)]],
  ['SELECT * FROM "o" WHERE "id" = ? AND "name" = ?', ['5', 'order form'], ['5', 'order form']],
])('%s', (sql, given, expected) => {
  expect(convert(sql, ...given)).toEqual(expected);
});

it('refuses the text of another entity', () => {
  expect(() => convert('SELECT * FROM o WHERE user_id = ?', order(1n))).toThrow(InvalidIdError);
  expect(() => convert('SELECT * FROM o WHERE id = ?', 'order_short')).toThrow(InvalidIdError);
  expect(() => convert('SELECT * FROM o WHERE (id, n) = (?, ?)', user(1n), 2)).toThrow(InvalidIdError);
});

it('gives an array back as it was, once no statement uses it any more', () => {
  const ids = [order(1n), 'x', order(2n)];
  const mine = [...ids];
  const sql = 'SELECT * FROM o WHERE id = ? AND name = ? AND id <> ?';
  parameters.convert(sql, ids);
  parameters.convert(sql, ids);
  parameters.restore(ids);
  expect(ids).toEqual(['1', 'x', '2']);
  parameters.restore(ids);
  expect(ids).toEqual(mine);
  parameters.restore(ids);
  expect(ids).toEqual(mine);
});

it('takes statements without parameters', () => {
  expect(() => parameters.convert('SELECT 1', undefined)).not.toThrow();
  expect(() => parameters.restore(undefined)).not.toThrow();
});
