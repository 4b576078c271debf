import type { DataSource } from 'typeorm';
import type { GeneratedColumn } from './generated-column.js';
import { SnowflakeNotAssignedError } from './snowflake-errors.js';

/** `INSERT INTO "table" ("a", "b") ...`, as TypeORM writes it, and as people do. */
const INSERT = /^\s*INSERT\s+(?:IGNORE\s+|OR\s+\w+\s+)?INTO\s+([^\s()]+)\s*\(([^()]*)\)/i;

interface GuardedColumn {
  /** Quoted as in SQL. */
  readonly name: string;
  readonly of: GeneratedColumn;
}

/**
 * Refuses an insert whose list of columns leaves a generated one out: `into(Order, ['title'])`, `valuesFromSelect`, SQL
 * written by hand. Subscribers are told of some of these and cannot add a column; MariaDB in a lenient mode would
 * store 0, a database with a default whatever that is.
 */
export class InsertGuard {
  private readonly byTable = new Map<string, GuardedColumn[]>();

  constructor(driver: Pick<DataSource['driver'], 'escape'>, generated: readonly GeneratedColumn[]) {
    const escape = (name: string): string => driver.escape(name);
    for (const each of generated) {
      const { isNullable, databaseName, entityMetadata } = each.column;
      if (isNullable) continue;
      const table = entityMetadata.tablePath.split('.').map(escape).join('.');
      const guarded = this.byTable.get(table) ?? [];
      this.byTable.set(table, [...guarded, { name: escape(databaseName), of: each }]);
    }
  }

  /** @throws SnowflakeNotAssignedError */
  check(sql: string): void {
    // Most statements are no inserts: they end here.
    if (!/^\s*INSERT/i.test(sql)) return;
    const [, table, list] = INSERT.exec(sql) ?? [];
    const columns = table === undefined ? undefined : this.byTable.get(table);
    if (columns === undefined) return;
    const named = new Set(list!.split(',').map((name) => name.trim()));
    for (const { name, of } of columns) {
      if (!named.has(name)) throw new SnowflakeNotAssignedError(of.mark.service, of.place, 'column-list');
    }
  }
}
