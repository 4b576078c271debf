import type { GeneratedColumn } from './generated-column.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';

/** Only one way to read a comment: with two, many of them would take for ever. */
const GAP = String.raw`(?:\s|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)`;
const NAME = '(?:"[^"]+"|`[^`]+`|[\\w$]+)';

/** Most statements are no inserts. */
const BEGIN = new RegExp(`^${GAP}*(?:INSERT|REPLACE)\\b`, 'i');

/** `INSERT INTO "table" ("a", "b") ...`, as TypeORM writes it, and as people do. */
const INSERT = new RegExp(
  `^${GAP}*(?:INSERT|REPLACE)${GAP}+(?:(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|IGNORE|OR\\s+\\w+)${GAP}+)*(?:INTO${GAP}+)?` +
    `(${NAME}(?:\\s*\\.\\s*${NAME})*)(?:${GAP}+AS${GAP}+${NAME})?${GAP}*\\(([^()]*)\\)`,
  'i',
);

/** In parentheses, too: `INSERT INTO a (SELECT ...)`. */
const NO_LIST = /^(?:SELECT|WITH|VALUES|TABLE)\b/i;

/**
 * Refuses an insert whose list of columns leaves a generated one out: `into(Order, ['title'])`, `valuesFromSelect`, SQL
 * written by hand. Subscribers are told of some of these and cannot add a column; MariaDB in a lenient mode would
 * store 0, a database with a default whatever that is.
 */
export class InsertGuard {
  /** By the table's path, without quotes and in lower case. */
  private readonly byTable = new Map<string, GeneratedColumn[]>();

  constructor(generated: readonly GeneratedColumn[]) {
    for (const each of generated) {
      if (each.column.isNullable) continue;
      const table = each.column.entityMetadata.tablePath.toLowerCase();
      this.byTable.set(table, [...(this.byTable.get(table) ?? []), each]);
    }
  }

  /** @throws SnowflakeNotAssignedError */
  check(sql: string): void {
    if (this.byTable.size === 0 || !BEGIN.test(sql)) return;
    const [, table, list] = INSERT.exec(sql) ?? [];
    if (table === undefined || list === undefined) return;
    const columns = this.byTable.get(table.split('.').map(bare).join('.'));
    const listed = list.replace(/--[^\n]*|\/\*[^]*?\*\//g, ' ').trim();
    if (columns === undefined || NO_LIST.test(listed)) return;
    const named = new Set(listed.split(',').map(bare));
    for (const { column, mark, place } of columns) {
      if (!named.has(column.databaseName.toLowerCase())) {
        throw new SnowflakeNotAssignedError(mark.service, place, 'column-list');
      }
    }
  }
}

/** Without quotes: written without them, a name means the same in any case. */
function bare(name: string): string {
  return name
    .trim()
    .replace(/^["`]|["`]$/g, '')
    .toLowerCase();
}
