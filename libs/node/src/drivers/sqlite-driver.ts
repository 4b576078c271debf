import type { Database, Statement } from 'better-sqlite3';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { driverCodeOf, DriverNotInstalledError } from '../database/database-errors.js';
import type { StatementResult } from '../database/dialect.js';
import type { Driver, DriverConnection } from '../database/sql-database.js';
import type { DatabaseSettings } from './database-settings.js';
import { loadDriver } from './load-driver.js';
import { requireSupported } from '../system/peer-versions.js';

type SqliteClass = new (file: string, options: { readonly timeout: number }) => Database;

/** Raindrop has some dozens of statements; those with a list of worker ids can be of any length. */
const PREPARED_STATEMENTS = 100;

/**
 * Opens one connection by `better-sqlite3`. A missing file and its folder are created, unless `extra.fileMustExist` is
 * true.
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
    // The package's types describe the result of require(), which is not that of import().
    requireSupported('better-sqlite3', () => __filename);
    const Sqlite = await loadDriver(
      type,
      'better-sqlite3',
      () => import('better-sqlite3') as unknown as Promise<SqliteClass>,
    );
    if (extra?.['fileMustExist'] !== true) await mkdir(dirname(file), { recursive: true });
    // A wait inside the driver would stop the event loop: a busy file is an error at once.
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

/** True when the compiled part is missing: the package loads it when the first file is opened. */
function lacksBinary(error: unknown): boolean {
  return driverCodeOf(error) === 'ERR_DLOPEN_FAILED' || /bindings file/.test(String(error));
}
