import type { Database, Statement } from 'better-sqlite3';
import { driverCodeOf, DriverNotInstalledError } from '../database/database-errors.js';
import type { StatementResult } from '../database/dialect.js';
import { requireSupported } from '../system/peer-versions.js';
import type { DatabaseSettings } from './database-settings.js';
import { loadDriver } from './load-driver.js';
import { makeFolder, PreparedStatements, type SqliteFile } from './sqlite-file.js';

type SqliteClass = new (file: string, options: { readonly timeout: number }) => Database;

/**
 * Opens a file by the package `better-sqlite3`.
 * @throws DriverNotInstalledError; UnsupportedVersionError; the package's error
 */
export async function openBetterSqlite3(settings: DatabaseSettings): Promise<SqliteFile> {
  const { type, database, extra } = settings;
  // The package's types describe the result of require(), which is not that of import().
  requireSupported('better-sqlite3', () => __filename);
  const Sqlite = await loadDriver(
    type,
    'better-sqlite3',
    () => import('better-sqlite3') as unknown as Promise<SqliteClass>,
  );
  await makeFolder(settings);
  try {
    return new BetterSqlite3File(new Sqlite(String(database), { ...extra, timeout: 0 }));
  } catch (error) {
    throw lacksBinary(error) ? new DriverNotInstalledError(type, error) : error;
  }
}

class BetterSqlite3File implements SqliteFile {
  private readonly statements = new PreparedStatements<Statement>((sql) => this.database.prepare(sql));

  constructor(private readonly database: Database) {}

  query(sql: string, values: readonly unknown[]): StatementResult {
    const statement = this.statements.get(sql);
    if (statement.reader) {
      const records = statement.all(...values) as Record<string, unknown>[];
      return { records, affected: undefined, insertId: undefined };
    }
    return { records: [], affected: statement.run(...values).changes, insertId: undefined };
  }

  close(): void {
    this.statements.clear();
    this.database.close();
  }
}

/** True when the compiled part is missing: the package loads it when the first file is opened. */
function lacksBinary(error: unknown): boolean {
  return driverCodeOf(error) === 'ERR_DLOPEN_FAILED' || /bindings file/.test(String(error));
}
