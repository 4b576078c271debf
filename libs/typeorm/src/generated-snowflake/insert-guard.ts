import type { GeneratedColumn } from './generated-column.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';
import { listedColumns } from './sql/listed-columns.js';

/**
 * Refuses an insert whose list of columns leaves a generated one out: `into(Order, ['title'])`, `valuesFromSelect`, SQL
 * written by hand. Subscribers are told of some of these and cannot add a column; MariaDB in a lenient mode would
 * store 0, a database with a default whatever that is.
 */
export class InsertGuard {
  /** By the table's path, in lower case. */
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
    if (this.byTable.size === 0) return;
    const listed = listedColumns(sql);
    if (listed === undefined) return;
    for (const { column, mark, place } of this.byTable.get(listed.table) ?? []) {
      if (!listed.columns.has(column.databaseName.toLowerCase())) {
        throw new SnowflakeNotAssignedError(mark.service, place, 'column-list');
      }
    }
  }
}
