import type { DataSource } from 'typeorm';
import type { GeneratedColumn, ReferenceColumn } from './generated-column.js';
import type { IdForm } from '@raindrop/core/internal';
import { type ComparedColumn, comparedColumns } from '@raindrop/node/internal';

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
