import type { DataSource } from 'typeorm';
import type { GeneratedColumn, ReferenceColumn } from './generated-column.js';
import type { SnowflakeForm } from './snowflake-form.js';
import { comparedColumns, type ComparedColumn } from './sql/compared-columns.js';

const NOTHING: ReadonlyMap<number, unknown> = new Map();

const TEXT = /char|text|string|clob|json|enum|uuid/;

/** What was replaced in an array of parameters, by index, and how many statements use that array right now. */
interface Replaced {
  readonly given: Map<number, unknown>;
  users: number;
}

/** What a column of a table holds: typed IDs, or texts that may look like one. */
type Holds = SnowflakeForm | 'text';

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

  /** Once no statement uses them any more: the array may be the caller's own, and is wanted as it was. */
  restore(parameters: unknown): void {
    if (this.looksTyped === undefined || !Array.isArray(parameters)) return;
    const replaced = this.replaced.get(parameters);
    if (replaced === undefined || --replaced.users > 0) return;
    this.replaced.delete(parameters);
    for (const [index, value] of replaced.given) parameters[index] = value;
  }

  /** What takes a parameter's place, by index. */
  private plainOf(sql: string, parameters: readonly unknown[]): Map<number, unknown> {
    const plain = new Map<number, unknown>();
    for (const column of comparedColumns(sql)) {
      const value = parameters[column.index];
      const forms = this.isTyped(value) ? this.formsOf(column) : [];
      if (forms.length > 0) plain.set(column.index, written(value, forms));
    }
    return plain;
  }

  /** Of the columns that may be meant; none where one of them holds texts. */
  private formsOf({ column, tables }: ComparedColumn): readonly SnowflakeForm[] {
    const holds = tables.flatMap((table) => this.tables.get(table)?.get(column) ?? []);
    return holds.includes('text') ? [] : (holds as SnowflakeForm[]);
  }

  /** An array is a parameter of `ANY($1)`, and of mysql2's `IN (?)`. */
  private isTyped(value: unknown): boolean {
    if (typeof value === 'string') return this.looksTyped!.test(value);
    return Array.isArray(value) && value.some((each) => this.isTyped(each));
  }
}

function written(value: unknown, forms: readonly SnowflakeForm[]): unknown {
  if (Array.isArray(value)) return value.map((each) => written(each, forms));
  if (typeof value !== 'string') return value;
  const prefix = value.slice(0, value.lastIndexOf('_'));
  return (forms.find((form) => form.prefix === prefix) ?? forms[0]!).compare(value);
}

function isText({ type }: { readonly type: unknown }): boolean {
  return type === String || (typeof type === 'string' && TEXT.test(type));
}
