import { readDocument } from './typescript-blocks.js';

/** Line breaks are no part of a sentence. */
const read = (name: string): string => readDocument(`docs/${name}`).replace(/\s+/g, ' ');

const DATABASES = 'performance-databases.md';
const SPEED = 'performance.md';

/** A figure as it is quoted, and the words of the source that it is taken from. */
describe.each([
  {
    document: 'strategies.md',
    quotes: [
      ['3, 20 and 29 % faster than with snowflakes', DATABASES, 'by 3, 20 and 29 %: the database makes the key'],
      ['grew to 1.6 times its size', DATABASES, 'the table is 1.6 times as large'],
      ['took 7 times as long', DATABASES, 'takes 7 times as long'],
      ['the insert took 17.4 s', DATABASES, '| MariaDB | uuid v4 | 17.4 |'],
      ['against 11.7 s', DATABASES, '| MariaDB | snowflake | 11.7 | 81.4 |'],
      ['15.5 s, and a table of 89.8 MB instead of 81.4', DATABASES, '| MariaDB | uuid v7 | 15.5 | 89.8 |'],
      ['`crypto.randomUUID()` takes 11 times as long', SPEED, '| `crypto.randomUUID()` | 97 | 11 / 8 |'],
      ['`uuid` v7 187 times as long as `nextString()`', SPEED, '| `uuid` v7 | 2,290 | - / 187 |'],
      ['67, 95 and 33 % of the time of v4', DATABASES, '67, 95 and 33 % of the time of v4'],
      ['75, 84 and 89 % of that of v7', DATABASES, '75, 84 and 89 % of the time of v7'],
    ],
  },
  {
    document: 'comparison.md',
    quotes: [
      ['75, 84 and 89 % of the time of v7', DATABASES, '75, 84 and 89 % of the time of v7'],
      ['11 times as long (`randomUUID`)', SPEED, '| `crypto.randomUUID()` | 97 | 11 / 8 |'],
      ['28 (`ulid`)', SPEED, '| `ulid`, monotonic | 345 | - / 28 |'],
      ['11 to 23 (`nanoid`)', SPEED, '| `nanoid` | 140-290 | - / 11-23 |'],
      ['187 (`uuid` v7)', SPEED, '| `uuid` v7 | 2,290 | - / 187 |'],
      ['113 times the time of `nextId()`', SPEED, '| `nodejs-snowflake` | 976 / 976 | 113 / 80 |'],
      ['repeated IDs when the clock went back', SPEED, 'repeats IDs when the clock goes back'],
      ['A quarter of a burst was repeated, 12 times', SPEED, '105 / 136 | 12 / 11 | 10 million | a quarter of a burst'],
      ['`flake-idgen`: 28 times', SPEED, '| `snowflakify`, `flake-idgen` | 244 / 244 | 28 / 20 |'],
      ['15 to 17 times', SPEED, '| `simple-flakeid` (12 bits) | 140 / 172 | 15-17 / 14 |'],
      ['up to 0.8 s in ten seconds', SPEED, 'in ten seconds up to 0.8 s'],
    ],
  },
])('The figures of docs/$document', ({ document, quotes }) => {
  it.each(quotes)('%s: stands in %s', (quote, source, words) => {
    expect(read(document)).toContain(quote);
    expect(read(source)).toContain(words);
  });
});
