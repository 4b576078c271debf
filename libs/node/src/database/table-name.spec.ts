import { layoutTableOf } from '../worker-table/worker-table.js';
import { indexNameOf, InvalidTableNameError, isTableName, parseTableName } from './table-name.js';

describe('a table name', () => {
  it.each([
    ['soc_raindrop_worker', undefined, 'soc_raindrop_worker'],
    ['app.workers', 'app', 'workers'],
    ['_A.b9', '_A', 'b9'],
  ])('%s is accepted', (text, schema, name) => {
    expect(isTableName(text)).toBe(true);
    expect(parseTableName(text)).toEqual({ schema, name });
  });

  it('takes the schema of the DataSource when it names none', () => {
    expect(parseTableName('workers', 'app')).toEqual({ schema: 'app', name: 'workers' });
    expect(parseTableName('own.workers', 'app')).toEqual({ schema: 'own', name: 'workers' });
  });

  it.each(
    [
      [
        '',
        'a b',
        'a.b.c',
        '.a',
        'a.',
        '1a',
        'a-b',
        'a`b',
        'a"b',
        "a'; DROP TABLE x; --",
        'täble',
        'a\n',
        'a'.repeat(64),
      ],
      [undefined, null, 7, {}, ['a']] as unknown as string[],
    ].flat(),
  )('%j is refused', (text) => {
    expect(() => parseTableName(text)).toThrow(InvalidTableNameError);
    expect(() => parseTableName(text)).toThrow(/tableName = .* must be 'table' or 'schema\.table'/);
  });

  it('is part of the names of its indexes and of the table beside it', () => {
    const table = parseTableName('app.workers');
    expect(indexNameOf(table, 'code')).toBe('idx_workers_code');
    expect(layoutTableOf(table)).toEqual({ schema: 'app', name: 'workers_layout' });
  });

  it('leaves names of at most 60 characters, different for different tables', () => {
    const [one, two] = [parseTableName(`${'a'.repeat(62)}b`), parseTableName(`${'a'.repeat(62)}c`)];
    const names = [one, two].flatMap((table) => [
      layoutTableOf(table).name,
      indexNameOf(table, 'code'),
      indexNameOf(table, 'heartbeat_time'),
    ]);
    expect(new Set(names).size).toBe(6);
    for (const name of names) expect(name).toHaveLength(60);
  });
});
