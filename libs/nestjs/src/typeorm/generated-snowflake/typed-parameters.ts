import type { DataSource } from 'typeorm';
import type { GeneratedColumn, ReferenceColumn } from './generated-column.js';
import type { SnowflakeForm } from './snowflake-form.js';

const NAME = '(?:["`][^"`]+["`]|[A-Za-z_]\\w*)';
const PATH = `${NAME}(?:\\.${NAME})*`;

/** A table and, perhaps, its alias; a keyword in the alias' place does no harm, unless it begins the next table. */
const TABLE = new RegExp(`\\b(?:FROM|JOIN|UPDATE|INTO)\\s+(${PATH})(?:\\s+(?:AS\\s+)?(?!JOIN\\b)(${NAME}))?`, 'gi');

/** Quoted text, names, placeholders. */
const TOKEN = new RegExp(`'(?:[^']|'')*'|(${PATH})|\\$(\\d+)|(\\?)`, 'g');

/** They may stand between a column and what it is compared with. */
const BETWEEN_THEM = /^(?:IN|NOT|BETWEEN|AND|ANY)$/i;

const TEXT = /char|text|string|clob|json|enum|uuid/;

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
        if (form?.prefix !== undefined) table.set(column.databaseName, form);
        else if (isText(column)) table.set(column.databaseName, 'text');
      }
    }
  }

  /**
   * @param parameters changed in place
   * @throws InvalidIdError for a text with the prefix of another entity
   */
  convert(sql: string, parameters: unknown): void {
    const { looksTyped } = this;
    if (looksTyped === undefined || !Array.isArray(parameters)) return;
    if (!parameters.some((each) => typeof each === 'string' && looksTyped.test(each))) return;
    const tables = this.tablesOf(sql);
    let column = '';
    let asked = 0;
    for (const [, name, numbered, placeholder] of sql.matchAll(TOKEN)) {
      if (name !== undefined) column = BETWEEN_THEM.test(name) ? column : name;
      else if (numbered === undefined && placeholder === undefined) column = '';
      else {
        const index = numbered === undefined ? asked++ : Number(numbered) - 1;
        const value: unknown = parameters[index];
        if (typeof value !== 'string' || !looksTyped.test(value)) continue;
        const form = formOf(column, tables);
        if (form !== undefined) parameters[index] = form.write(value);
      }
    }
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

function formOf(path: string, tables: ReadonlyMap<string, ReadonlyMap<string, Holds>>): SnowflakeForm | undefined {
  const [column, qualifier] = partsOf(path).reverse();
  const table = qualifier === undefined ? undefined : tables.get(qualifier.toLowerCase());
  const candidates = table === undefined ? [...new Set(tables.values())] : [table];
  const holds = candidates.flatMap((each) => each.get(column ?? '') ?? []);
  const [first] = holds;
  return first === undefined || first === 'text' || holds.includes('text') ? undefined : first;
}

function partsOf(path: string): string[] {
  return path.split(/["`.]+/).filter((part) => part !== '');
}

function isText({ type }: { readonly type: unknown }): boolean {
  return type === String || (typeof type === 'string' && TEXT.test(type));
}
