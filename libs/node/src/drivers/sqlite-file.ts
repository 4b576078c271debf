import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StatementResult } from '../database/dialect.js';
import type { DatabaseSettings } from './database-settings.js';

/** A file of SQLite that is open. It blocks while it runs a statement, as every driver of SQLite in Node does. */
export interface SqliteFile {
  /** Runs one statement. @throws an error with SQLite's name of the failure in `code`, such as `SQLITE_BUSY` */
  query(sql: string, values: readonly unknown[]): StatementResult;
  /** Closes the file; nothing happens when it is closed already. */
  close(): void;
}

/** Makes the folder of a file that may be made. */
export async function makeFolder({ database, extra }: DatabaseSettings): Promise<void> {
  if (extra?.['fileMustExist'] !== true) await mkdir(dirname(String(database).trim()), { recursive: true });
}

/** Raindrop has some dozens of statements; those with a list of worker ids can be of any length. */
const LIMIT = 100;

/** The prepared statements of one connection, by their SQL: the hundred that were prepared last, at most. */
export class PreparedStatements<T> {
  private readonly prepared = new Map<string, T>();

  constructor(private readonly prepare: (sql: string) => T) {}

  /** @throws what preparing throws, such as "no such table" */
  get(sql: string): T {
    const known = this.prepared.get(sql);
    if (known !== undefined) return known;
    if (this.prepared.size >= LIMIT) this.prepared.clear();
    const statement = this.prepare(sql);
    this.prepared.set(sql, statement);
    return statement;
  }

  clear(): void {
    this.prepared.clear();
  }
}
