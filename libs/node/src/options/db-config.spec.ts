import { OptionReader } from '@raindrop/core/internal';
import type { SqlDatabase } from '../database/sql-database.js';
import { readDbConfig } from './common-options.js';

function read(dbConfig: unknown): { database: SqlDatabase | undefined; problems: OptionReader['problems'] } {
  const reader = new OptionReader({ dbConfig });
  return { database: readDbConfig(reader), problems: reader.problems };
}

const places = (dbConfig: unknown): string[] | undefined => {
  const { database, problems } = read(dbConfig);
  expect(problems).toEqual([]);
  return database?.addresses?.map(({ place }) => place.trim());
};

const PG = { type: 'postgres', host: 'c', port: 7, database: 'ids' };

it.each([
  ['postgres://app:x@a:5432,b:5433/ids', ['a:5432/ids', 'b:5433/ids']],
  ['postgresql://app:a,b@a,b/ids?sslmode=require', ['a/ids', 'b/ids']],
  ['mysql://app:x@a:3306,b,[::1]:3307/ids', ['a:3306/ids', 'b/ids', '[::1]:3307/ids']],
  ['mariadb://a,b/ids', ['a/ids', 'b/ids']],
  [{ type: 'postgres', url: 'postgres://a,b/ids' }, ['a/ids', 'b/ids']],
  [
    ['postgres://a,b/ids', PG],
    ['a/ids', 'b/ids', 'c:7 ids'],
  ],
  [
    [read('postgres://a/ids').database, PG],
    ['a/ids', 'c:7 ids'],
  ],
  [['postgres://a/ids'], undefined],
  ['postgres://app:a,b@a/ids', undefined],
  ['sqlite:data/a,b.sqlite', undefined],
  ['sqlite://a,b.sqlite', undefined],
])('%j has these addresses: %j', (dbConfig, expected) => {
  expect(places(dbConfig)).toEqual(expected);
});

it.each<[unknown, string]>([
  [[], 'must name at least one address'],
  ['postgres://app:geheim@a,/ids', 'must be a URL'],
  ['postgres://app:geheim@a:x,b/ids', 'must be a valid URL'],
  [['postgres://app:geheim@a/ids', 'mysql://app:geheim@b/ids'], 'these have different types'],
  [['sqlite:a.sqlite', 'sqlite:b.sqlite'], 'must name one file'],
  [[PG, { ...PG, schema: 'other' }], 'with the same schema'],
  ...['#', '/', '?', '%'].map((each) => [`postgres://app:geheim${each}1@a/ids`, 'percent-encode'] as [string, string]),
  ['postgres://app:1#geheim@a/ids', 'percent-encode'],
  ['mysql://app:1/geheim@a/ids', 'percent-encode'],
  [{ type: 'mysql', url: 'mysql://app:geheim%@a/ids' }, 'percent-encode'],
  ['postgres://app:geheim@a/ids?currentSchema=shop,public', 'must name one schema'],
  ['postgres://app:geheim@a/ids?schema=shop&search_path=other', 'must name one schema'],
  ['mysql://app:geheim@a/ids?schema=shop', 'no schema on MySQL'],
  ['sqlite:///data/geheim.db?mode=ro', 'without parameters such as ?mode=ro'],
  [[PG, null], 'or a list of these'],
  [[PG, [PG]], 'or a list of these'],
  [[PG, { ...PG, passwort: 'geheim', pool: 3 }], "[1]: { type: 'postgres', passwort, pool }"],
  [[PG, 'mongodb://app:geheim@a/ids'], '[1]: (hidden)'],
])('%j is refused', (dbConfig, says) => {
  const { problems } = read(dbConfig);
  expect(problems).toHaveLength(1);
  const [{ option, given, message }] = problems as [(typeof problems)[number]];
  expect(option).toBe('dbConfig');
  expect(`${given} ${message}`).toContain(says);
  expect(JSON.stringify(problems)).not.toContain('geheim');
});
