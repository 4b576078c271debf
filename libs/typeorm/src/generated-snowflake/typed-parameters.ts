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
    for (const column of comparedColumns(sql)) {
      const value = parameters[column.index];
      const forms = this.isTyped(value) ? this.formsOf(column) : [];
      if (forms.length > 0) plain.set(column.index, written(value, forms));
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

function written(value: unknown, forms: readonly IdForm[]): unknown {
  if (Array.isArray(value)) return value.map((each) => written(each, forms));
  if (typeof value !== 'string') return value;
  const prefix = value.slice(0, value.lastIndexOf('_'));
  return (forms.find((form) => form.prefix === prefix) ?? forms[0]!).compare(value);
}

function isText({ type }: { readonly type: unknown }): boolean {
  return type === String || (typeof type === 'string' && TEXT.test(type));
}

/** The column that a parameter is compared with, in lower case and without quotes. */
interface ComparedColumn {
  /** The parameter's place in the list of parameters. */
  readonly index: number;
  readonly column: string;
  /** The table that the column is qualified with, else all tables of the statement. */
  readonly tables: readonly string[];
}

/** The columns that a statement's parameters are compared with. A numbered one may be compared more than once. */
function comparedColumns(sql: string): ComparedColumn[] {
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

/** The text after a parameter that comes first: `? = "a"."id"`. */
function comparedAfter(tokens: readonly SqlToken[], at: number): SqlToken | undefined {
  const [sign, name] = tokens.slice(at + 1, at + 3);
  return sign?.kind === 'mark' && /[=<>]/.test(sign.text) && name?.kind === 'name' ? name : undefined;
}
