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
      ['| `nodejs-snowflake` | 976 / 976 | 113 / 80 |', BENCH, '| `nodejs-snowflake` | 976 / 976 | 113 / 80 |'],
      ['131 million IDs a second', BENCH, '131 million IDs a second, 99.9 %'],
      ['| 1.09, 1.04 times |', BENCH, '| 1 | 5.5 | 14.9 | 16.2 | 1.09 |'],
      ['| 0.98-1.09, 1.02-1.08, 1.03-1.07 times |', BENCH, '| 0.98-1.09 | 1.02-1.08 | 1.03-1.07 |'],
      ['| 1.31-1.34, 1.26-1.39, 1.25-1.34 times |', BENCH, '| 1.31-1.34 | 1.26-1.39 | 1.25-1.34 |'],
      ['0.81-0.96, 0.93-0.95, 0.91-0.97 times |', BENCH, '| 0.81-0.96 | 0.93-0.95 | 0.91-0.97 |'],
      ['| 26, 37, 47 ms |', BENCH, '26; 37; 47 ms'],
      ['| 22-39, 23-43, 31-42 million a second |', BENCH, '| 22-39 million |'],
    ],
  },
])('The figures of $document', ({ document, quotes }) => {
  it.each(quotes)('%s: stands in %s', (quote, source, words) => {
    expect(read(document)).toContain(quote);
    expect(read(source)).toContain(words);
  });
});
