import type { DataSource } from 'typeorm';
import type { GeneratedColumn, ReferenceColumn } from './generated-column.js';
import type { SnowflakeForm } from './snowflake-form.js';

const NAME = '(?:["`][^"`]+["`]|[A-Za-z_]\\w*)';
const PATH = `${NAME}(?:\\.${NAME})*`;

/** A table and, perhaps, its alias; a keyword in the alias' place does no harm, unless it begins the next table. */
const TABLE = new RegExp(`\\b(?:FROM|JOIN|UPDATE|INTO)\\s+(${PATH})(?:\\s+(?:AS\\s+)?(?!JOIN\\b)(${NAME}))?`, 'gi');

/** Comments, quoted text, names, placeholders. */
const TOKEN = new RegExp(`--[^\\n]*|/\\*[^]*?\\*/|'(?:[^']|'')*'|(${PATH})|\\$(\\d+)|(\\?)`, 'g');

/** What a placeholder is compared with when it comes first: `? = "a"."id"`. */
const AFTER = new RegExp(`\\s*(?:=|<>|!=|[<>]=?)\\s*(${PATH})`, 'y');

/** They may stand between a column and what it is compared with. */
const BETWEEN_THEM = /^(?:IN|NOT|BETWEEN|AND|ANY)$/i;

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
    const shared = this.replaced.get(parameters);
    if (shared !== undefined) shared.users++;
    if (!parameters.some((each) => this.isTyped(each))) return;
    const plain = this.plainOf(sql, parameters);
    if (plain.size === 0) return;
    const { given } = shared ?? this.note(parameters);
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

  private note(parameters: unknown[]): Replaced {
    const replaced = { given: new Map<number, unknown>(), users: 1 };
    this.replaced.set(parameters, replaced);
    return replaced;
  }

  /** What takes a parameter's place, by index. */
  private plainOf(sql: string, parameters: readonly unknown[]): Map<number, unknown> {
    const plain = new Map<number, unknown>();
    const tables = this.tablesOf(sql);
    let column = '';
    let asked = 0;
    for (const { 0: token, 1: name, 2: numbered, 3: placeholder, index: at } of sql.matchAll(TOKEN)) {
      if (name !== undefined) column = BETWEEN_THEM.test(name) ? column : name;
      else if (numbered === undefined && placeholder === undefined) column = token.startsWith("'") ? '' : column;
      else {
        const index = numbered === undefined ? asked++ : Number(numbered) - 1;
        const value = parameters[index];
        if (!this.isTyped(value)) continue;
        AFTER.lastIndex = at + token.length;
        const forms = formsOf(AFTER.exec(sql)?.[1] ?? column, tables);
        if (forms.length > 0) plain.set(index, written(value, forms));
      }
    }
    return plain;
  }

  /** An array is a parameter of `ANY($1)`, and of mysql2's `IN (?)`. */
  private isTyped(value: unknown): boolean {
    if (typeof value === 'string') return this.looksTyped!.test(value);
    return Array.isArray(value) && value.some((each) => this.isTyped(each));
  }

  /** The tables of a statement, by name and alias. */
  private tablesOf(sql: string): ReadonlyMap<string, ReadonlyMap<string, Holds>> {
    const tables = new Map<string, ReadonlyMap<string, Holds>>();
    for (const [, path, alias] of sql.matchAll(TABLE)) {
      const name = partsOf(path!).at(-1)!.toLowerCase();
      const table = this.tables.get(name) ?? new Map<string, Holds>();
      tables.set(name, table);
      if (alias !== undefined) tables.set(partsOf(alias)[0]!.toLowerCase(), table);
    }
    return tables;
  }
}

/** Of the columns that may be meant; none where it may be a text. */
function formsOf(path: string, tables: ReadonlyMap<string, ReadonlyMap<string, Holds>>): readonly SnowflakeForm[] {
  const [column, qualifier] = partsOf(path.toLowerCase()).reverse();
  const table = qualifier === undefined ? undefined : tables.get(qualifier);
  const candidates = table === undefined ? [...new Set(tables.values())] : [table];
  const holds = candidates.flatMap((each) => each.get(column ?? '') ?? []);
  const forms = holds.filter((each) => each !== 'text');
  return forms.length < holds.length ? [] : forms;
}

function written(value: unknown, forms: readonly SnowflakeForm[]): unknown {
  if (Array.isArray(value)) return value.map((each) => written(each, forms));
  if (typeof value !== 'string') return value;
  const prefix = value.slice(0, value.lastIndexOf('_'));
  return (forms.find((form) => form.prefix === prefix) ?? forms[0]!).compare(value);
}

function partsOf(path: string): string[] {
  return path.split(/["`.]+/).filter((part) => part !== '');
}

function isText({ type }: { readonly type: unknown }): boolean {
  return type === String || (typeof type === 'string' && TEXT.test(type));
}
