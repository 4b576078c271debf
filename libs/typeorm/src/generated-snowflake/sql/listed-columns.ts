import { isWord, pathOf, sqlTokens, type SqlToken } from './sql-tokens.js';

/** They stand before the table; what follows OR is SQLite's. */
const BEFORE_TABLE = 'INTO IGNORE LOW_PRIORITY HIGH_PRIORITY DELAYED OR ROLLBACK ABORT FAIL REPLACE'.split(' ');

/** What an insert lists, in lower case and without quotes. */
export interface ListedColumns {
  /** With its schema, where that is said: `shop.orders`. */
  readonly table: string;
  readonly columns: ReadonlySet<string>;
}

/** Reads `INSERT INTO "table" ("a", "b") ...`. @returns undefined for other statements, and inserts that list no columns */
export function listedColumns(sql: string): ListedColumns | undefined {
  const head = headOf(sql);
  const bracket = head.findIndex(({ text }) => text === '(');
  const [table, alias] = head.slice(1, bracket).filter((each) => !isWord(each, ...BEFORE_TABLE));
  // Where columns are listed, neither VALUES nor SELECT stands before the bracket.
  if (bracket < 0 || table === undefined || (alias !== undefined && !isWord(alias, 'AS'))) return undefined;
  const list = head.slice(bracket + 1);
  // `INSERT INTO a (SELECT ...)`.
  if (isWord(list[0], 'SELECT', 'WITH', 'VALUES', 'TABLE') || list.some(({ text }) => text === '(')) return undefined;
  return { table: pathOf(table).join('.'), columns: new Set(list.flatMap(pathOf)) };
}

/** An insert up to the end of its first brackets; of other statements nothing. */
function headOf(sql: string): SqlToken[] {
  const head: SqlToken[] = [];
  for (const token of sqlTokens(sql)) {
    if (head.length === 0 && !isWord(token, 'INSERT', 'REPLACE')) break;
    if (token.text === ')') break;
    head.push(token);
  }
  return head;
}
