import type { DataSource } from 'typeorm';
import type { GeneratedColumn, ReferenceColumn } from './generated-column.js';
import type { IdForm } from '@raindrop/core/internal';
import { isWord, pathOf, type SqlToken, sqlTokens } from './sql-tokens.js';

const NOTHING: ReadonlyMap<number, unknown> = new Map();

const TEXT = /char|text|string|clob|json|enum|uuid/;

/** The replaced values of an array of parameters, by index, and how many statements use that array right now. */
interface Replaced {
  readonly given: Map<number, unknown>;
  users: number;
}

/** The content of a table's column: typed IDs, or texts that may look like one. */
type Holds = IdForm | 'text';

/**
 * Replaces typed texts, `order_...`, by what the database holds, where a statement compares them with such a column:
 * in conditions written as SQL, and where TypeORM itself passes a key on as it is.
 *
 * A column without its table's name or alias is looked for in all tables of the statement; where one of them has a text
 * column of that name, nothing is replaced: the text itself may be meant.
 */
export class TypedParameters {
  /** By the names of table and column, in lower case. */
  private readonly tables = new Map<string, Map<string, Holds>>();
  private readonly looksTyped: RegExp | undefined;
  private readonly replaced = new WeakMap<unknown[], Replaced>();

  constructor({ entityMetadatas }: DataSource, columns: readonly (GeneratedColumn | ReferenceColumn)[]) {
    const forms = new Map(columns.map(({ column, form }) => [column, form]));
    const prefixes = new Set([...forms.values()].flatMap(({ prefix }) => prefix ?? []));
    if (prefixes.size === 0) return;
    this.looksTyped = new RegExp(`^(?:${[...prefixes].join('|')})_[0-9A-Za-z]+$`);
    for (const entity of entityMetadatas) {
      const table = this.tables.get(entity.tableName.toLowerCase()) ?? new Map<string, Holds>();
      this.tables.set(entity.tableName.toLowerCase(), table);
      for (const column of entity.columns) {
        const form = forms.get(column);
        const name = column.databaseName.toLowerCase();
        if (form?.prefix !== undefined) table.set(name, form);
        else if (isText(column)) table.set(name, 'text');
      }
    }
  }

  /**
   * @param parameters changed in place, until they are given to {@link restore}
   * @throws InvalidIdError for a text with the prefix of another entity
   */
  convert(sql: string, parameters: unknown): void {
    if (this.looksTyped === undefined || !Array.isArray(parameters)) return;
    const plain = parameters.some((each) => this.isTyped(each)) ? this.plainOf(sql, parameters) : NOTHING;
    const present = this.replaced.get(parameters);
    if (plain.size === 0 && present === undefined) return;
    const { given, users } = present ?? { given: new Map<number, unknown>(), users: 0 };
    this.replaced.set(parameters, { given, users: users + 1 });
    for (const [index, value] of plain) {
      given.set(index, parameters[index]);
      parameters[index] = value;
    }
  }

  /** Puts the replaced values back when the last statement that uses the array has ended: it may be the caller's array. */
  restore(parameters: unknown): void {
    if (this.looksTyped === undefined || !Array.isArray(parameters)) return;
    const replaced = this.replaced.get(parameters);
    if (replaced === undefined || --replaced.users > 0) return;
    this.replaced.delete(parameters);
    for (const [index, value] of replaced.given) parameters[index] = value;
  }

  /** The replacements of parameters, by index. */
  private plainOf(sql: string, parameters: readonly unknown[]): Map<number, unknown> {
    const plain = new Map<number, unknown>();
    for (const { index, columns, place } of comparedColumns(sql)) {
      const value = parameters[index];
      const forms = this.isTyped(value) ? columns.map((column) => this.formsOf(column)) : [];
      if (forms.some(({ length }) => length > 0)) plain.set(index, written(value, forms, place));
    }
    return plain;
  }

  /** The forms of all columns that may be meant; none when one of them holds texts. */
  private formsOf({ column, tables }: ComparedColumn): readonly IdForm[] {
    const holds = tables.flatMap((table) => this.tables.get(table)?.get(column) ?? []);
    return holds.includes('text') ? [] : (holds as IdForm[]);
  }

  /** An array is a parameter of `ANY($1)`, and of mysql2's `IN (?)`. */
  private isTyped(value: unknown): boolean {
    if (typeof value === 'string') return this.looksTyped!.test(value);
    return Array.isArray(value) && value.some((each) => this.isTyped(each));
  }
}

/** @param forms those of each column of a tuple; an array in such a place holds tuples, as `(a, b) IN (?)` of mysql2 does */
function written(value: unknown, forms: readonly (readonly IdForm[])[], place: number): unknown {
  if (Array.isArray(value)) {
    return value.map((each, at) => written(each, forms, forms.length > 1 && !Array.isArray(each) ? at : place));
  }
  const [first, ...others] = forms[place] ?? [];
  if (typeof value !== 'string' || first === undefined) return value;
  const prefix = value.slice(0, value.lastIndexOf('_'));
  return ([first, ...others].find((form) => form.prefix === prefix) ?? first).compare(value);
}

function isText({ type }: { readonly type: unknown }): boolean {
  return type === String || (typeof type === 'string' && TEXT.test(type));
}

/** A column that a parameter is compared with, in lower case and without quotes. */
interface ComparedColumn {
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
function comparedColumns(sql: string): Compared[] {
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
