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
      ['| `nodejs-snowflake` | 976 / 976 | 80 / 65 |', BENCH, '| `nodejs-snowflake` | 976 / 976 | 80 / 65 |'],
      ['131 million IDs a second', BENCH, '131 million IDs a second, 100 %'],
      ['| 1.05, 1.21, 1.28 times |', BENCH, '| 1 | 8.9 | 20.7 | 21.7 | 1.05 |'],
      ['| 1.08, 1.17, 1.00 times |', BENCH, '| `@GeneratedSnowflake()` | 1.08 | 1.17 | 1.00 |'],
      ['| 1.21, 1.20, 1.09 times |', BENCH, '| 1.21 | 1.20 | 1.09 |'],
      ['0.95, 0.94, 0.91 times |', BENCH, '| auto-increment | 0.95 | 0.94 | 0.91 |'],
      ['| 1.14; 2.20 times |', BENCH, '| 1.14 | 2.20 |'],
      ['| 1.33; 2.02 times |', BENCH, '| 1.33 | 2.02 |'],
      ['| 32, 50, 45 ms |', BENCH, '32; 50; 45 ms'],
      ['| 0.75 of its rate |', BENCH, 'that sends the same bytes | 0.75 |'],
      ['| 0.69 of its rate |', BENCH, 'count=1000` | 0.69 |'],
      ['| 83, 93, 95 million a second |', BENCH, '| SQLite | 1.1 million | 83 million |'],
    ],
  },
])('The figures of $document', ({ document, quotes }) => {
  it.each(quotes)('%s: stands in %s', (quote, source, words) => {
    expect(read(document)).toContain(quote);
    expect(read(source)).toContain(words);
  });
});
