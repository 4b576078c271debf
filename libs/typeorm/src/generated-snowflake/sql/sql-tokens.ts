/** A piece of a statement. Comments, numbers and other signs are left out. */
export interface SqlToken {
  /** A mark is a bracket, a comma or a comparison. */
  readonly kind: 'name' | 'text' | 'mark' | 'parameter';
  readonly text: string;
  /** Of a parameter: its place in the list of parameters. */
  readonly index: number;
}

const NAME = '(?:"[^"]+"|`[^`]+`|\\d*[A-Za-z_][\\w$]*)';

const PART = new RegExp(NAME, 'g');

/** Names with what they belong to, marks, quoted text, `$1`, `?`, comments, numbers. */
const TOKEN = new RegExp(
  String.raw`(${NAME}(?:\s*\.\s*${NAME})*)|([(),]|[=<>!]+)|('(?:[^']|'')*')|\$(\d+)|(\?)|--[^\n]*|/\*[^]*?(?:\*/|$)|\d+`,
  'g',
);

/** The one reader of SQL. It reads as far as it is asked to. */
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
