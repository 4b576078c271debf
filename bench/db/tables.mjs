import { readFileSync, writeFileSync } from 'node:fs';
import Table from 'cli-table3';

const DOCUMENT = new URL('README.md', import.meta.url);
const FIGURES = /(<!-- figures: begin -->\n)[^]*(<!-- figures: end -->)/;

const seconds = (ms) => (ms / 1e3).toFixed(1);
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** The name of a column, and its text. */
const COLUMNS = [
  ['database', ({ databaseTitle }) => databaseTitle],
  ['key', ({ kindTitle }) => kindTitle],
  ['insert, s', ({ insertMs }) => seconds(insertMs)],
  ['table, MB', ({ bytes }) => megabytes(bytes.table)],
  ['key index, MB', ({ bytes }) => (bytes.key === 0 ? 'in the table' : megabytes(bytes.key))],
  ['created_at index, MB', ({ bytes }) => (bytes.createdAtIndex === 0 ? '-' : megabytes(bytes.createdAtIndex))],
  ['all, MB', ({ bytes }) => megabytes(bytes.table + bytes.key + bytes.createdAtIndex)],
  ['a tenth in key order, ms', ({ keyOrderMs }) => keyOrderMs.toFixed(0)],
  ['a tenth by time, ms', ({ timeRangeMs }) => timeRangeMs.toFixed(0)],
  ['latest 100, ms', ({ latestMs }) => latestMs.toFixed(2)],
  ['one by key, ms', ({ lookUpMs }) => lookUpMs.toFixed(2)],
];

export function printTable(summaries) {
  const table = new Table({
    head: COLUMNS.map(([name]) => name.replace(', ', ',\n')),
    style: { head: [], border: [], compact: true },
  });
  for (const summary of summaries) table.push(COLUMNS.map(([, text]) => text(summary)));
  console.log(table.toString());
}

/** Puts the table and the versions between the marks of the document. */
export function writeTable(summaries) {
  const lines = [COLUMNS.map(([name]) => name), COLUMNS.map(() => '---')];
  for (const summary of summaries) lines.push(COLUMNS.map(([, text]) => text(summary)));
  const rows = lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  const text = readFileSync(DOCUMENT, 'utf8');
  writeFileSync(
    DOCUMENT,
    text.replace(FIGURES, (_, begin, end) => `${begin}${sourceOf(summaries)}\n\n${rows}${end}`),
  );
}

function sourceOf(summaries) {
  const [{ rows, batch }] = summaries;
  const versions = new Set(
    summaries.map(({ databaseTitle, version }) => `${databaseTitle} ${version.split(/[- ]/)[0]}`),
  );
  const rounds = Math.max(...summaries.map((summary) => summary.rounds));
  const times = rounds === 1 ? 'measured once' : `medians of ${rounds} rounds`;
  return `${rows.toLocaleString('en')} rows in inserts of ${batch.toLocaleString('en')}, ${times}. ${[...versions].join(', ')}.`;
}
