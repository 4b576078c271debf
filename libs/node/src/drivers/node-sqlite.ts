import { existsSync } from 'node:fs';
import type { StatementResult } from '../database/dialect.js';
import type { DatabaseSettings } from './database-settings.js';
import { sqliteCodeName } from './sqlite-codes.js';
import { makeFolder, PreparedStatements, type SqliteFile } from './sqlite-file.js';

/** The part of `node:sqlite` that is used: what Node 22.13 has of it. The types of Node 20 lack the module. */
interface NodeSqlite {
  readonly DatabaseSync: new (file: string, options: { readonly readOnly: boolean }) => NodeDatabase;
}

interface NodeDatabase {
  prepare(sql: string): NodeStatement;
  close(): void;
}

interface NodeStatement {
  all(...values: readonly unknown[]): Record<string, unknown>[];
  setReadBigInts(enabled: boolean): void;
}

/** Loads the module; undefined where this runtime has none. Node 22 prints an ExperimentalWarning, once in a process. */
export function nodeSqlite(): NodeSqlite | undefined {
  return process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined;
}

/**
 * Opens a file by Node's own `node:sqlite`. Of `extra` it knows better-sqlite3's `readonly` and `fileMustExist`.
 * @throws Error with a `code` of SQLite, such as `SQLITE_CANTOPEN`
 */
export async function openNodeSqlite(settings: DatabaseSettings): Promise<SqliteFile> {
  const { database, extra } = settings;
  await makeFolder(settings);
  // better-sqlite3 trims it, too.
  const file = String(database).trim();
  const { readonly = false, fileMustExist = false } = extra ?? {};
  if (fileMustExist === true && !existsSync(file)) throw failure(CANTOPEN, 'unable to open database file');
  const { DatabaseSync } = nodeSqlite()!;
  return new NodeSqliteFile(named(() => new DatabaseSync(file, { readOnly: readonly === true })));
}

class NodeSqliteFile implements SqliteFile {
  private readonly statements = new PreparedStatements<NodeStatement>((sql) => this.prepared(sql));
  private isClosed = false;

  constructor(private readonly database: NodeDatabase) {}

  query(sql: string, values: readonly unknown[]): StatementResult {
    return named(() => {
      const statement = this.statements.get(sql);
      const before = this.changes().total;
      const records = statement.all(...values).map(withNumbers);
      return { records, affected: records.length === 0 ? this.affected(before) : undefined, insertId: undefined };
    });
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.statements.clear();
    this.database.close();
  }

  /**
   * How many rows the last statement has changed. SQLite goes on telling that of the last INSERT, UPDATE or DELETE: its
   * number counts only if the total has grown. Node before 22.16 cannot tell which statements return rows, and `run()` of
   * any Node counts for a BEGIN what the statement before it has changed.
   * @param before the total before the statement: one that failed, or returned rows, may have been before it
   */
  private affected(before: number): number {
    const { total, changed } = this.changes();
    return total === before ? 0 : changed;
  }

  /** How many rows the connection has changed since it was opened, and the last INSERT, UPDATE or DELETE. */
  private changes(): { readonly total: number; readonly changed: number } {
    const [counts] = this.statements.get('SELECT total_changes() AS total, changes() AS changed').all();
    return withNumbers(counts!) as { total: number; changed: number };
  }

  private prepared(sql: string): NodeStatement {
    const statement = this.database.prepare(sql);
    // Without it a number above 2^53 is an ERR_OUT_OF_RANGE.
    statement.setReadBigInts(true);
    return statement;
  }
}

/** Makes numbers of the integers that a number holds exactly, as better-sqlite3 does of all. */
function withNumbers(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, exact(value)]));
}

function exact(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

const CANTOPEN = 14;

/** Gives SQLite's failures the codes that they have in better-sqlite3: Node's code is ERR_SQLITE_ERROR for all. */
function named<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const { code, errcode, message } = error as Error & { readonly code?: unknown; readonly errcode?: unknown };
    throw code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number' ? failure(errcode, message, error) : error;
  }
}

function failure(errcode: number, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: sqliteCodeName(errcode) });
}
