/** A piece of a statement. Comments, numbers and other signs are left out. */
export interface SqlToken {
  /** A mark is a bracket, a comma or a comparison. */
  readonly kind: 'name' | 'text' | 'mark' | 'parameter';
  readonly text: string;
  /** A parameter's place in the list of parameters. */
  readonly index: number;
}

const NAME = '(?:"[^"]+"|`[^`]+`|\\d*[A-Za-z_][\\w$]*)';

const PART = new RegExp(NAME, 'g');

/** Names with what they belong to, marks, quoted text, `$1`, `?`, comments, numbers. */
const TOKEN = new RegExp(
  String.raw`(${NAME}(?:\s*\.\s*${NAME})*)|([(),]|[=<>!]+)|('(?:[^']|'')*')|\$(\d+)|(\?)|--[^\n]*|/\*[^]*?(?:\*/|$)|\d+`,
  'g',
);

/** Reads SQL token by token, only as far as the caller iterates. */
export function* sqlTokens(sql: string): Generator<SqlToken> {
  let asked = 0;
  for (let at = 0, found; (found = tokenFrom(sql, at)) !== null; at = found.index + found[0].length) {
    const [token, name, mark, text, number, next] = found;
    if (name !== undefined) yield { kind: 'name', text: token, index: -1 };
    else if (mark !== undefined) yield { kind: 'mark', text: token, index: -1 };
    else if (text !== undefined) yield { kind: 'text', text: token, index: -1 };
    else if (number !== undefined) yield { kind: 'parameter', text: token, index: Number(number) - 1 };
    else if (next !== undefined) yield { kind: 'parameter', text: token, index: asked++ };
  }
}

/** `matchAll` makes a regular expression anew at each call, which takes 2 us. */
function tokenFrom(sql: string, at: number): RegExpExecArray | null {
  TOKEN.lastIndex = at;
  return TOKEN.exec(sql);
}

/** Whether a piece is one of these keywords, given in capitals. */
export function isWord(token: SqlToken | undefined, ...words: readonly string[]): boolean {
  return token?.kind === 'name' && words.includes(token.text.toUpperCase());
}

/** `"shop"."Order"` is `['shop', 'order']`: without quotes a name means the same in any case. */
export function pathOf({ text }: SqlToken): string[] {
  return (text.match(PART) ?? []).map((name) => name.replace(/["`]/g, '').toLowerCase());
}

/** Keywords that may stand between INSERT and the table. Those after OR are SQLite's. */
const BEFORE_TABLE = 'INTO IGNORE LOW_PRIORITY HIGH_PRIORITY DELAYED OR ROLLBACK ABORT FAIL REPLACE'.split(' ');

/** The columns that an insert lists, in lower case and without quotes. */
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

/** The tokens of an insert up to its first closing bracket; none for other statements. */
function headOf(sql: string): SqlToken[] {
  const head: SqlToken[] = [];
  for (const token of sqlTokens(sql)) {
    if (head.length === 0 && !isWord(token, 'INSERT', 'REPLACE')) break;
    if (token.text === ')') break;
    head.push(token);
  }
  return head;
}
