import { readDocument } from './typescript-blocks.js';

/** Line breaks are no part of a sentence. */
const read = (path: string): string => readDocument(path).replace(/\s+/g, ' ');

const DATABASES = 'bench/db/README.md';
const BENCH = 'bench/README.md';
const PROOFS = 'test/README.md';

/** A figure as it is quoted, and the words of the source that it is taken from. */
describe.each([
  {
    document: 'docs/choosing.md',
    quotes: [
      [
        '| snowflake | 11.7 s | 81.4 MB | 21.1 s | 115.6 MB | 11.9 s | 103.3 MB |',
        DATABASES,
        '| MariaDB | snowflake | 11.7 | 81.4 |',
      ],
      [
        '| auto-increment | 11.3 s | 95.6 MB |',
        DATABASES,
        '| MariaDB | auto-increment | 11.3 | 76.1 | in the table | 19.4 | 95.6 |',
      ],
      ['| UUID v7 | 15.5 s | 89.8 MB |', DATABASES, '| MariaDB | uuid v7 | 15.5 | 89.8 |'],
      [
        '| UUID v4 | 17.4 s | 163.9 MB |',
        DATABASES,
        '| MariaDB | uuid v4 | 17.4 | 130.8 | in the table | 33.1 | 163.9 |',
      ],
      [
        '| key index of a million rows, PostgreSQL | 31.6 MB | 22.5 MB |',
        DATABASES,
        '| PostgreSQL | uuid v7 | 25.1 | 101.2 | 31.6 |',
      ],
      ['| 31.6 MB | 22.5 MB |', DATABASES, '| PostgreSQL | snowflake | 21.1 | 93.1 | 22.5 |'],
      [
        '| key index of a million rows, SQLite | 51.9 MB | 19.5 MB |',
        DATABASES,
        '| SQLite | uuid v7 | 13.3 | 114.0 | 51.9 |',
      ],
      ['| 51.9 MB | 19.5 MB |', DATABASES, '| SQLite | snowflake | 11.9 | 83.8 | 19.5 |'],
      [
        '| table with its key, a million rows, MariaDB | 89.8 MB | 81.4 MB |',
        DATABASES,
        '| MariaDB | uuid v7 | 15.5 | 89.8 | in the table |',
      ],
      [
        '(490 ms against 70)',
        DATABASES,
        '| MariaDB | uuid v4 | 17.4 | 130.8 | in the table | 33.1 | 163.9 | 81 | 490 |',
      ],
    ],
  },
  {
    document: 'docs/contributing/proofs.md',
    quotes: [
      ['61,000 kills, 475 hours', PROOFS, '| kills simulated | at least 30,000 | 61,278 |'],
      ['475 hours', PROOFS, '| hours simulated | at least 60 | 475 |'],
      ['138,890,197 IDs compared, 0 twice', PROOFS, '| IDs compared | at least 100,000,000 | 138,890,197 |'],
      ['repeats 268,044 of 6.4 million', PROOFS, '268,044 of 6,402,255 IDs twice'],
    ],
  },
  {
    document: 'docs/performance.md',
    quotes: [
      ['| `nodejs-snowflake` | 976 / 976 | 124 / 88 |', BENCH, '| `nodejs-snowflake` | 976 / 976 | 124 / 88 |'],
      ['131 million IDs a second', BENCH, '131 million IDs a second, 100 %'],
      ['| 1.14, 1.25, 1.01 times |', BENCH, '| 1 | 5.1 | 13.5 | 15.4 | 1.14 |'],
      ['| 1.00, 1.09, 1.03 times |', BENCH, '| `@GeneratedSnowflake()` | 1.00 | 1.09 | 1.03 |'],
      ['| 1.46, 1.35, 1.34 times |', BENCH, '| 1.46 | 1.35 | 1.34 |'],
      ['0.86, 0.89, 0.89 times |', BENCH, '| auto-increment | 0.86 | 0.89 | 0.89 |'],
      ['| 23, 33, 34 ms |', BENCH, '23; 33; 34 ms'],
      ['| 119, 116, 118 million a second |', BENCH, '| SQLite | 13.2 million | 119 million |'],
    ],
  },
])('The figures of $document', ({ document, quotes }) => {
  it.each(quotes)('%s: stands in %s', (quote, source, words) => {
    expect(read(document)).toContain(quote);
    expect(read(source)).toContain(words);
  });
});
