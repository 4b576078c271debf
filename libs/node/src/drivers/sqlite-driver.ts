import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { DriverNotInstalledError } from '../database/database-errors.js';
import type { Driver, DriverConnection } from '../database/sql-database.js';
import { refuseUnfit, sqliteVersions, UnfitSqliteDriverError } from '../database/sqlite-versions.js';
import { openBetterSqlite3 } from './better-sqlite3.js';
import type { DatabaseSettings } from './database-settings.js';
import { nodeSqlite, openNodeSqlite } from './node-sqlite.js';
import type { SqliteFile } from './sqlite-file.js';

/** One connection to a file. A missing file and its folder are created, unless `extra.fileMustExist` is true. */
export class SqliteDriver implements Driver {
  private opened: SqliteFile | undefined;

  constructor(private readonly settings: DatabaseSettings) {}

  get file(): string {
    return String(this.settings.database);
  }

  async connect(): Promise<DriverConnection> {
    // A wait inside SQLite would stop the event loop: a busy file is an error at once.
    const opened = (this.opened ??= await openSqlite(this.settings));
    return {
      stream: undefined,
      query: (sql, values) => new Promise((resolve) => resolve(opened.query(sql, values))),
    };
  }

  end(): Promise<void> {
    this.opened?.close();
    return Promise.resolve();
  }
}

/**
 * Chooses the driver, by these rules:
 *
 * 1. `better-sqlite3`, if it is installed and this Node can load it. The application may open the same file with it, and
 *    two copies of SQLite in one process release each other's locks on a file.
 * 2. `node:sqlite`, if this Node has it (22.13 and later), and the process has not loaded a `better-sqlite3` that only
 *    another package can load. Example: with pnpm, that of Prisma's adapter.
 * 3. DriverNotInstalledError or UnfitSqliteDriverError, which say what to install.
 */
async function openSqlite(settings: DatabaseSettings): Promise<SqliteFile> {
  try {
    const versions = sqliteVersions(__filename);
    if (versions !== undefined) refuseUnfit(versions);
    return await openBetterSqlite3(settings);
  } catch (error) {
    const isMissing = error instanceof DriverNotInstalledError;
    if (!isMissing && !(error instanceof UnfitSqliteDriverError)) throw error;
    const obstacle = obstacleToNodeSqlite();
    if (obstacle === undefined) return openNodeSqlite(settings);
    throw isMissing ? new DriverNotInstalledError(settings.type, error.cause, obstacle) : error;
  }
}

/** Why `node:sqlite` cannot take the place of `better-sqlite3`, and what to do; undefined if it can. */
function obstacleToNodeSqlite(): string | undefined {
  const { node } = process.versions;
  if (nodeSqlite() === undefined) {
    const version = Number(node.split('.', 1)[0]) < 22 ? `This is Node ${node}: install better-sqlite3@12. ` : '';
    return `${version}Node 22.13 and later need no driver for SQLite.`;
  }
  const other = otherCopy();
  return other && `Node's own SQLite is not used beside ${other}, which another package has loaded.`;
}

const COPY = /^(.*[\\/]node_modules[\\/]better-sqlite3)[\\/]/;

/** The folder of a `better-sqlite3` that the process has loaded and Raindrop cannot load; undefined also in a bundle. */
function otherCopy(): string | undefined {
  try {
    const require = createRequire(__filename);
    const own = ownCopy(require);
    const loaded = Object.keys(require.cache).map((file) => COPY.exec(file)?.[1]);
    return loaded.find((folder) => folder !== undefined && folder !== own);
  } catch {
    return undefined;
  }
}

/** The folder of the `better-sqlite3` that Raindrop finds: if Raindrop cannot load it, the application cannot either. */
function ownCopy(require: NodeJS.Require): string | undefined {
  try {
    return dirname(require.resolve('better-sqlite3/package.json'));
  } catch {
    return undefined;
  }
}
