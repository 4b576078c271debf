import type { Measurement } from './figure.js';

/** Measurements as a Markdown table, as the documentation keeps it. */
export function showTable(measurements: readonly Measurement[]): string {
  const rows = [
    ['figure', 'database', 'target', 'measured', 'ok'],
    ...measurements.map(({ figure, database, target, measured, ok }) => [
      figure,
      database,
      target,
      measured,
      ok ? 'yes' : 'NO',
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |\n`;
  const [head, ...body] = rows;
  return line(head!) + line(widths.map((width) => '-'.repeat(width))) + body.map(line).join('');
}
