import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BEGIN = '<!-- insert paths: begin -->';
const END = '<!-- insert paths: end -->';
const PAGE = join(__dirname, 'README.md');

/** The table that README.md of this folder has. */
export function publishedTable(): string {
  const page = readFileSync(PAGE, 'utf8');
  return page.slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)).trim();
}

/** What that table says in one cell, without its quotes; empty when there is no such row or column. */
export function publishedCell(row: string, column: string): string {
  return rawCell(row, column).replaceAll('`', '');
}

/** What that table says of one database, which is named only where it differs from the others. */
export function publishedOutcome(row: string, column: string, databaseName: string): string {
  const [usual, ...unusual] = rawCell(row, column).split('; ');
  const own = unusual.find((outcome) => outcome.startsWith(`${databaseName}: `));
  return own?.slice(databaseName.length + 2) ?? usual!;
}

/** The cells by path and column, read once. */
let cells: ReadonlyMap<string, string> | undefined;

function rawCell(row: string, column: string): string {
  cells ??= readCells();
  return cells.get(`${row}|${column}`) ?? '';
}

function readCells(): Map<string, string> {
  const [head, , ...rows] = publishedTable()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(rows.flatMap((row) => row.map((cell, index) => [`${row[1]}|${head![index]}`, cell] as const)));
}

export function publishTable(table: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const before = page.slice(0, page.indexOf(BEGIN) + BEGIN.length);
  writeFileSync(PAGE, `${before}\n${table}\n${page.slice(page.indexOf(END))}`);
  cells = undefined;
}
