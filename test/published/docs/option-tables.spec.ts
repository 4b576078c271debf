import { OptionReader } from '@raindrop/core/internal';
import type { IntegerRule } from '@raindrop/core';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { resolveRingOptions } from '../../../libs/core/src/ring/ring-options.js';
import { resolveRaindropOptions } from '../../../libs/nestjs/src/raindrop.options.js';
import { OPTION_TABLE } from '../../../libs/node/src/options/option-table.js';
import { resolveRedisBufferOptions } from '../../../libs/node/src/redis/redis-options.js';
import { optionDocs, type OptionDoc } from './option-docs';
import { withOptionTables } from './option-tables';

const docs = join(__dirname, '../../../docs');
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));

/** What the checks ask for, as a table would put it; undefined where it depends on other options. */
interface Asked {
  readonly range: string;
  readonly fallback: string | undefined;
}

/** Every option that a check reads, with what it says of it. */
function askedBy(check: () => unknown): Map<string, Asked> {
  const asked = new Map<string, Asked>();
  const number = (value: number): string => value.toLocaleString('en-US');
  const code = (name: string): string => `\`${name}\``;
  const note = (name: string, range: string, fallback?: string): void => {
    asked.set(name, { range, fallback });
  };
  const { integer, share, boolean, oneOf } = OptionReader.prototype;
  const spies = [
    jest.spyOn(OptionReader.prototype, 'integer').mockImplementation(function (this: OptionReader, name, rule) {
      const fallback = rule.default === undefined ? undefined : number(rule.default);
      note(name, `${number(rule.min)}-${number(rule.max)}`, fallback);
      return integer.call(this, name, rule satisfies IntegerRule);
    }),
    jest.spyOn(OptionReader.prototype, 'share').mockImplementation(function (this: OptionReader, name, rule) {
      note(name, '0-1', number(rule.default));
      return share.call(this, name, rule);
    }),
    jest.spyOn(OptionReader.prototype, 'boolean').mockImplementation(function (this: OptionReader, name, fallback) {
      note(name, 'true, false', String(fallback));
      return boolean.call(this, name, fallback);
    }),
    jest.spyOn(OptionReader.prototype, 'oneOf').mockImplementation(function (
      this: OptionReader,
      name,
      names,
      fallback,
    ) {
      note(name, names.map(code).join(', '), code(fallback));
      return oneOf.call(this, name, names, fallback);
    }),
  ];
  try {
    check();
  } finally {
    spies.forEach((spy) => spy.mockRestore());
  }
  return asked;
}

/** Numbers alone, or nothing but names: a range that needs no words. */
const PLAIN = /^(?:[\d,]+-[\d,]+|true, false|`[\w]+`(?:, `[\w]+`)*)$/;

function expectAsDocumented(asked: ReadonlyMap<string, Asked>, documented: readonly OptionDoc[]): number {
  const plain = documented.filter(({ name, range }) => asked.has(name) && PLAIN.test(range));
  for (const { name, range, fallback } of plain) {
    const rule = asked.get(name)!;
    const inWords = !/^[\d,.]+$|^true$|^false$|^`\w+`$/.test(fallback);
    expect({ name, range, fallback }).toEqual({
      name,
      range: rule.range,
      fallback: inWords ? fallback : rule.fallback,
    });
  }
  return plain.length;
}

it.each(pages)('the tables of options in docs/%s are those of the source: npm run docs', (page) => {
  const text = readFileSync(join(docs, page), 'utf8');
  expect(text).toBe(withOptionTables(text));
});

it('the table of options has each of a service, and no other', () => {
  const kinds = ['LayoutOptions', 'GeneratorOptions', 'LeaseOptions', 'AssignerOptions', 'SnowflakeModuleOptions'];
  const all = [...kinds, 'CommonModuleOptions', 'SegmentOptions', 'SegmentModuleOptions'].flatMap(optionDocs);
  const listed = OPTION_TABLE.flatMap(({ options }) => options);
  expect([...listed].sort()).toEqual([...new Set(all.map(({ name }) => name))].sort());
});

const NOW = Date.UTC(2026, 5, 1);
const layout = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10 };

it.each([
  {
    of: 'a service of snowflakes',
    interfaces: [
      'LayoutOptions',
      'GeneratorOptions',
      'LeaseOptions',
      'CommonModuleOptions',
      'SnowflakeModuleOptions',
      'ApplicationOptions',
    ],
    check: () => resolveRaindropOptions(layout, NOW),
    least: 20,
  },
  {
    of: 'a service of numbers',
    interfaces: ['SegmentOptions', 'CommonModuleOptions', 'SegmentModuleOptions'],
    check: () => resolveRaindropOptions({ idMode: 'numberSection' }, NOW),
    least: 10,
  },
  { of: 'a ring', interfaces: ['SharedIdRingOptions'], check: () => resolveRingOptions(), least: 6 },
  {
    of: 'a Redis buffer',
    interfaces: ['RedisBufferOptions'],
    check: () => resolveRedisBufferOptions({ connection: 'redis://127.0.0.1' }),
    least: 5,
  },
])('ranges and defaults of $of are those of its checks', ({ interfaces, check, least }) => {
  const compared = expectAsDocumented(askedBy(check), interfaces.flatMap(optionDocs));
  expect(compared).toBeGreaterThanOrEqual(least);
});
