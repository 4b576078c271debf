import { looseColumns } from './old-key.js';

const tables = ['user', 'Categories', 'order_lines', 'notes'];
const keys = ['user', 'Categories', 'order_lines'].map((table) => ({ table, column: 'id', type: 'integer' }));

function found(column: string, { table = 'notes', type = 'int(11)', isLinked = false } = {}): (string | null)[] {
  return looseColumns([{ table, column, type, isLinked }], keys, tables).map(({ perhaps }) => perhaps);
}

describe('columns that may hold keys', () => {
  it.each([
    ['user_id', 'user.id'],
    ['userId', 'user.id'],
    ['USER_ID', 'user.id'],
    ['category_id', 'Categories.id'],
    ['orderLineID', 'order_lines.id'],
    ['actor_id', null],
  ])('%s is one', (column, perhaps) => {
    expect(found(column)).toEqual([perhaps]);
  });

  it.each([
    ['name', {}],
    ['id', {}],
    ['user_id', { type: 'varchar(9)' }],
    ['user_id', { isLinked: true }],
    ['user_id', { table: 'user' }],
    ['note_id', { table: 'user' }],
    ['valid', {}],
  ])('%s of %j is none', (column, more) => {
    expect(found(column, more)).toEqual([]);
  });
});
