import { isWord, pathOf, sqlTokens, type SqlToken } from './sql-tokens.js';

/** What a parameter is compared with, in lower case and without quotes. */
export interface ComparedColumn {
  /** The parameter's place in the list of parameters. */
  readonly index: number;
  readonly column: string;
  /** The table that the statement names, or all that may be meant. */
  readonly tables: readonly string[];
}

/** What the parameters of a statement are compared with. A numbered one may be compared more than once. */
export function comparedColumns(sql: string): ComparedColumn[] {
  const compared: ComparedColumn[] = [];
  const tokens = [...sqlTokens(sql)];
  const tables = tablesOf(tokens);
  let before: SqlToken | undefined;
  for (const [at, token] of tokens.entries()) {
    // A name, unless it may stand between a column and what it is compared with.
    if (token.kind === 'name' && !isWord(token, 'IN', 'NOT', 'BETWEEN', 'AND', 'ANY')) before = token;
    if (token.kind === 'text') before = undefined;
    const name = token.kind === 'parameter' ? (comparedAfter(tokens, at) ?? before) : undefined;
    if (name === undefined) continue;
    const [column, qualifier = ''] = pathOf(name).reverse();
    const named = tables.get(qualifier);
    const meant = named === undefined ? [...new Set(tables.values())] : [named];
    compared.push({ index: token.index, column: column!, tables: meant });
  }
  return compared;
}

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

/** What stands after a parameter that comes first: `? = "a"."id"`. */
function comparedAfter(tokens: readonly SqlToken[], at: number): SqlToken | undefined {
  const [sign, name] = tokens.slice(at + 1, at + 3);
  return sign?.kind === 'mark' && /[=<>]/.test(sign.text) && name?.kind === 'name' ? name : undefined;
}
