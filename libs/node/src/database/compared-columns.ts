import { isWord, pathOf, type SqlToken, sqlTokens } from './sql-tokens.js';

/** A column that a parameter is compared with, in lower case and without quotes. */
export interface ComparedColumn {
  readonly column: string;
  /** The table that the column is qualified with, else all tables of the statement. */
  readonly tables: readonly string[];
}

interface Compared {
  /** The parameter's place in the list of parameters. */
  readonly index: number;
  /** One, or the columns of a tuple. */
  readonly columns: readonly ComparedColumn[];
  /** Which of the tuple's columns is meant. */
  readonly place: number;
}

/**
 * The columns that a statement's parameters are compared with. A numbered one may be compared more than once.
 *
 * In a tuple the place says which column is meant: `(a, b) IN ((?, ?), (?, ?))`. So it does in an insert:
 * `(a, b) VALUES (?, now()), (?, ?)`.
 */
export function comparedColumns(sql: string): Compared[] {
  const compared: Compared[] = [];
  const tokens = [...sqlTokens(sql)];
  const tables = tablesOf(tokens);
  let before: readonly SqlToken[] = [];
  /** The commas so far in each open bracket. */
  const commas: number[] = [];
  /** In an insert, how many brackets were open before its rows. */
  let rowsAt: number | undefined;
  for (const [at, token] of tokens.entries()) {
    const depth = commas.length;
    if (token.text === '(') commas.push(0);
    else if (token.text === ',' && depth > 0) commas[depth - 1]!++;
    else if (token.text === ')') commas.pop();
    const tuple = token.text === ')' ? tupleBefore(tokens, at) : undefined;
    if (tuple !== undefined) {
      before = tuple;
      rowsAt = isWord(tokens[at + 1], 'VALUES', 'VALUE') ? commas.length : undefined;
    }
    const isInRow = rowsAt !== undefined && depth > rowsAt;
    // A name, unless it may stand between a column and what it is compared with.
    if (token.kind === 'name' && !isInRow && !isWord(token, ...BETWEEN_BOTH)) [before, rowsAt] = [[token], undefined];
    if (token.kind === 'text' && !isInRow) before = [];
    // A function takes a parameter that stands deeper in a row.
    if (token.kind !== 'parameter' || (isInRow && depth > rowsAt! + 1)) continue;
    const columns = (comparedAfter(tokens, at) ?? before).map((name) => {
      const [column, qualifier = ''] = pathOf(name).reverse();
      const named = tables.get(qualifier);
      return { column: column!, tables: named === undefined ? [...new Set(tables.values())] : [named] };
    });
    compared.push({ index: token.index, columns, place: columns.length > 1 ? (commas.at(-1) ?? 0) : 0 });
  }
  return compared;
}

const BETWEEN_BOTH = ['IN', 'NOT', 'BETWEEN', 'AND', 'ANY', 'VALUES', 'VALUE', 'ROW'];

/** The names of a tuple, `(a, b)`, that ends here; undefined for other brackets, such as those of a function. */
function tupleBefore(tokens: readonly SqlToken[], end: number): SqlToken[] | undefined {
  const names: SqlToken[] = [];
  let at = end - 1;
  for (; tokens[at]?.kind === 'name'; at -= 2) {
    names.unshift(tokens[at]!);
    if (tokens[at - 1]?.text !== ',') break;
  }
  if (names.length < 2 || tokens[at - 1]?.text !== '(') return undefined;
  const opener = tokens[at - 2];
  const isCall = opener?.kind === 'name' && !isWord(opener, ...BEFORE_TUPLE);
  return isCall && !isWord(tokens[end + 1], 'VALUES', 'VALUE') ? undefined : names;
}

const BEFORE_TUPLE = ['WHERE', 'AND', 'OR', 'NOT', 'ON', 'WHEN', 'HAVING', 'SELECT', 'SET', 'ROW', 'BETWEEN'];

/** The names of a statement's tables, by name and alias. A keyword in the alias' place does no harm. */
function tablesOf(tokens: readonly SqlToken[]): ReadonlyMap<string, string> {
  const tables = new Map<string, string>();
  for (const [at, token] of tokens.entries()) {
    const [name, next, afterNext] = tokens.slice(at + 1, at + 4);
    if (name?.kind !== 'name' || !isWord(token, 'FROM', 'JOIN', 'UPDATE', 'INTO')) continue;
    const table = pathOf(name).at(-1)!;
    const alias = isWord(next, 'AS') ? afterNext : next;
    tables.set(table, table);
    if (alias?.kind === 'name') tables.set(pathOf(alias)[0]!, table);
  }
  return tables;
}

/** The text after a parameter that comes first: `? = "a"."id"`, or `(?, ?) = (a, b)`. */
function comparedAfter(tokens: readonly SqlToken[], at: number): readonly SqlToken[] | undefined {
  let end = at + 1;
  while (tokens[end]?.kind === 'parameter' || tokens[end]?.text === ',') end++;
  const isTuple = tokens[end]?.text === ')';
  const [sign, name] = tokens.slice(isTuple ? end + 1 : at + 1).slice(0, 2);
  if (sign?.kind !== 'mark' || !/[=<>]/.test(sign.text)) return undefined;
  if (!isTuple) return name?.kind === 'name' ? [name] : undefined;
  const close = tokens.findIndex(({ text }, index) => index > end && text === ')');
  return name?.text === '(' ? tupleBefore(tokens, close) : undefined;
}
