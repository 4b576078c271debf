import { DataSource } from 'typeorm';
import { idFunctionSql } from '../../../test/support/servers/id-function.js';
import { testDatabase } from '../../../test/support/servers/test-databases.js';
import { fillerWarnings } from './precision.js';

describe('A default of a function that stands in two schemas', () => {
  it.each([
    ['shop.next_id', 'public.next_id()', 'public', true],
    ['shop.next_id', 'public.next_id()', 'public,shop', true],
    ['shop.next_id', 'shop.next_id()', 'public', false],
    ['shop.next_id', 'shop.next_id()', 'shop,public', false],
    ['public.next_id', 'public.next_id()', 'public', false],
    ['public.next_id', 'shop.next_id()', 'shop', true],
    ['next_id', 'public.next_id()', 'public', false],
    ['next_id', 'shop.next_id()', 'public', true],
  ])('declared as %s, and %s in the table, with the search path %s: warns %s', async (name, call, path, isWarned) => {
    const database = await testDatabase('postgres');
    const extra = { options: `-c search_path=${path}` };
    const dataSource = await new DataSource({ ...database.options, extra }).initialize();
    try {
      await dataSource.query('CREATE SCHEMA IF NOT EXISTS shop');
      for (const each of ['public.next_id', 'shop.next_id'])
        for (const sql of idFunctionSql(each)) await dataSource.query(sql);
      await dataSource.query(`CREATE TABLE parcels (id bigint PRIMARY KEY DEFAULT ${call})`);
      const [of, schema] = name.split('.').reverse();
      const databaseDefault = { schema, name: of! };
      const key = { place: 'parcels.id', databaseDefault, schema: undefined, table: 'parcels', column: 'id' };
      const warnings = await fillerWarnings([key], 'postgres', async (expressions) => {
        const columns = expressions.map((each, at) => `${each} AS value${at}`);
        const [row] = await dataSource.query<object[]>(`SELECT ${columns.join(', ')}`);
        return Object.values(row!) as unknown[];
      });
      expect(warnings).toEqual(
        isWarned ? [expect.stringMatching(/^parcels\.id: the database fills .* SET DEFAULT /) as unknown] : [],
      );
    } finally {
      await dataSource.destroy();
      await database.drop();
    }
  });
});
