import Table from 'cli-table3';
import { environment } from './environment.mjs';

const PLAIN = { head: [], border: [], compact: true };

/** All figures by question, then one table of all ratios with their targets. */
export function showResults(results) {
  const figures = new Table({ head: ['what', 'measured', 'target', ''], style: PLAIN, colAligns: ['left', 'right'] });
  const ratios = new Table({ head: ['ratio', '', 'target', ''], style: PLAIN, colAligns: ['left', 'right'] });
  for (const { question, figures: rows, ratios: compared } of Object.values(results)) {
    figures.push([{ content: question, colSpan: 4 }]);
    for (const row of rows) figures.push([row.name, `${shown(row.value)} ${row.unit}`, targetOf(row), row.note ?? '']);
    for (const row of compared) ratios.push([row.name, shown(row.value), targetOf(row), row.note ?? '']);
  }
  return [environment(), figures.toString(), ratios.toString()].join('\n\n');
}

function shown(value) {
  if (!Number.isFinite(value)) return '-';
  if (value >= 1_000) return Math.round(value).toLocaleString('en');
  return value.toFixed(value < 0.1 ? 4 : 2);
}

function targetOf({ value, atMost, atLeast }) {
  if (atMost !== undefined) return `<= ${atMost}${value <= atMost ? '' : ', missed'}`;
  if (atLeast !== undefined) return `>= ${atLeast}${value >= atLeast ? '' : ', missed'}`;
  return '';
}
