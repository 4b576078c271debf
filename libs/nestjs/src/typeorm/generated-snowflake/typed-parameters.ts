import type { DataSource } from 'typeorm';
import type { GeneratedColumn, ReferenceColumn } from './generated-column.js';
import type { SnowflakeForm } from './snowflake-form.js';

/** Quoted text, quoted names, placeholders, words; what stands between them is no name. */
const TOKEN = /'(?:[^']|'')*'|["`]([^"`]+)["`]|\$(\d+)|(\?)|([A-Za-z_]\w*)/g;

/** They may stand between a column and what it is compared with. */
const BETWEEN_THEM = /^(?:IN|NOT|BETWEEN|AND|ANY)$/i;

const TEXT = /char|text|string|clob|json|enum|uuid/;

/**
 * Replaces typed texts, `order_...`, by what the database holds, where a statement compares them with such a column:
 * in conditions written as SQL, and where TypeORM itself passes a key on as it is.
 *
 * The column is known by its name alone. Where an entity of the DataSource has a text column of the same name, nothing is
 * replaced: there the text itself may be meant.
 */
export class TypedParameters {
  private readonly forms = new Map<string, SnowflakeForm[]>();
  private readonly looksTyped: RegExp | undefined;

  constructor({ entityMetadatas }: DataSource, columns: readonly (GeneratedColumn | ReferenceColumn)[]) {
    const typed = columns.filter(({ form }) => form.prefix !== undefined);
    if (typed.length === 0) return;
    const all = entityMetadatas.flatMap((entity) => entity.columns);
    const texts = new Set(all.filter(isText).map(({ databaseName }) => databaseName));
    for (const { column, form } of typed) {
      if (texts.has(column.databaseName)) continue;
      this.forms.set(column.databaseName, [...(this.forms.get(column.databaseName) ?? []), form]);
    }
    const prefixes = new Set(typed.map(({ form }) => form.prefix));
    this.looksTyped = new RegExp(`^(?:${[...prefixes].join('|')})_[0-9A-Za-z]+$`);
  }

  /**
   * @param parameters changed in place
   * @throws InvalidIdError for a text with the prefix of another entity
   */
  convert(sql: string, parameters: unknown): void {
    const { looksTyped } = this;
    if (looksTyped === undefined || !Array.isArray(parameters)) return;
    if (!parameters.some((each) => typeof each === 'string' && looksTyped.test(each))) return;
    let column = '';
    let asked = 0;
    for (const [, quoted, numbered, placeholder, word] of sql.matchAll(TOKEN)) {
      if (quoted !== undefined) column = quoted;
      else if (word !== undefined) column = BETWEEN_THEM.test(word) ? column : word;
      else if (numbered === undefined && placeholder === undefined) column = '';
      else {
        const index = numbered === undefined ? asked++ : Number(numbered) - 1;
        const value: unknown = parameters[index];
        if (typeof value === 'string' && looksTyped.test(value)) parameters[index] = this.plain(value, column);
      }
    }
  }

  private plain(value: string, column: string): unknown {
    const forms = this.forms.get(column);
    if (forms === undefined) return value;
    const own = forms.find(({ prefix }) => value.startsWith(`${prefix}_`)) ?? forms[0]!;
    return own.write(value);
  }
}

function isText({ type }: { readonly type: unknown }): boolean {
  return type === String || (typeof type === 'string' && TEXT.test(type));
}
