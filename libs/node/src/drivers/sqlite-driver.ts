import type { Database, Statement } from 'better-sqlite3';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { driverCodeOf, DriverNotInstalledError } from '../database/database-errors.js';
import type { StatementResult } from '../database/dialect.js';
import type { Driver, DriverConnection } from '../database/sql-database.js';
import type { DatabaseSettings } from './database-settings.js';
import { loadDriver } from './load-driver.js';

type SqliteClass = new (file: string, options: { readonly timeout: number }) => Database;

/** Ours are some dozens; a list of worker ids can be of any length. */
const PREPARED_STATEMENTS = 100;

/**
 * One connection by `better-sqlite3`. A file that is missing is made, and its folder, unless `extra.fileMustExist` is
 * set.
 */
export class SqliteDriver implements Driver {
  private opened: Database | undefined;
  private readonly statements = new Map<string, Statement>();

  constructor(private readonly settings: DatabaseSettings) {}

  get file(): string {
    return String(this.settings.database);
  }

  async connect(): Promise<DriverConnection> {
    const { file } = this;
    const { type, extra } = this.settings;
    // Its types describe what require() gives, which is not what import() gives.
    const Sqlite = await loadDriver(
      type,
      'better-sqlite3',
      () => import('better-sqlite3') as unknown as Promise<SqliteClass>,
    );
    if (extra?.['fileMustExist'] !== true) await mkdir(dirname(file), { recursive: true });
    // Nobody waits inside the driver: it would stop the event loop.
    try {
      this.opened ??= new Sqlite(file, { ...extra, timeout: 0 });
    } catch (error) {
      throw lacksBinary(error) ? new DriverNotInstalledError(type, error) : error;
    }
    return {
      stream: undefined,
      query: (sql, values) => new Promise((resolve) => resolve(this.run(sql, values))),
    };
  }

  end(): Promise<void> {
    this.statements.clear();
    this.opened?.close();
    return Promise.resolve();
  }

  private run(sql: string, values: readonly unknown[]): StatementResult {
    const statement = this.prepared(sql);
    if (statement.reader) {
      const records = statement.all(...values) as Record<string, unknown>[];
      return { records, affected: undefined, insertId: undefined };
    }
    return { records: [], affected: statement.run(...values).changes, insertId: undefined };
  }

  private prepared(sql: string): Statement {
    const known = this.statements.get(sql);
    if (known !== undefined) return known;
    if (this.statements.size >= PREPARED_STATEMENTS) this.statements.clear();
    const statement = this.opened!.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}

/** The package loads its compiled part when the first file is opened. */
function lacksBinary(error: unknown): boolean {
  return driverCodeOf(error) === 'ERR_DLOPEN_FAILED' || /bindings file/.test(String(error));
}
