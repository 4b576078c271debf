import { readFileSync } from 'node:fs';
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

type Lack = DriverNotInstalledError | UnfitSqliteDriverError;

/** Why `node:sqlite` has taken the place of `better-sqlite3` in this process; undefined while it has not. */
let lack: Lack | undefined;

/**
 * Chooses the driver, by these rules:
 *
 * 1. `better-sqlite3`, if it is installed and this Node can load it. The application may open the same file with it, and
 *    two copies of SQLite in one process release each other's locks on a file.
 * 2. `node:sqlite`, if this Node has it (22.13 and later), and the process has not loaded a `better-sqlite3` that only
 *    another package can load. Example: with pnpm, that of Prisma's adapter. The choice then holds for this process: a
 *    `better-sqlite3` that `npm install` adds meanwhile would be the second copy.
 * 3. DriverNotInstalledError or UnfitSqliteDriverError, which say what to install.
 */
async function openSqlite(settings: DatabaseSettings): Promise<SqliteFile> {
  if (lack !== undefined) return openWithout(lack, settings);
  try {
    const versions = sqliteVersions(__filename);
    if (versions !== undefined) refuseUnfit(versions);
    return await openBetterSqlite3(settings);
  } catch (error) {
    const isLack = error instanceof DriverNotInstalledError || error instanceof UnfitSqliteDriverError;
    if (!isLack) throw error;
    return openWithout(error, settings);
  }
}

function openWithout(reason: Lack, settings: DatabaseSettings): Promise<SqliteFile> {
  const obstacle = obstacleToNodeSqlite();
  if (obstacle === undefined) {
    lack = reason;
    return openNodeSqlite(settings);
  }
  const isMissing = reason instanceof DriverNotInstalledError;
  throw isMissing ? new DriverNotInstalledError(settings.type, reason.cause, obstacle) : reason;
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

/** The folder, or the binary, of a `better-sqlite3` that the process has loaded and Raindrop cannot load. */
function otherCopy(): string | undefined {
  const loaded = [...loadedFiles(), ...loadedBinaries()].map((file) => COPY.exec(file)?.[1] ?? file);
  const own = ownCopy();
  return loaded.find((folder) => folder !== own);
}

/** Its files that this thread has loaded, also before their binary is: it is with the first database. None in a bundle. */
function loadedFiles(): string[] {
  try {
    return Object.keys(createRequire(__filename).cache).filter((file) => COPY.test(file));
  } catch {
    return [];
  }
}

/** The binaries that any thread, an `import` or a bundle has loaded; none where the system is not Linux. */
function loadedBinaries(): string[] {
  try {
    return readFileSync('/proc/self/maps', 'utf8').match(/\/.*better[-_]sqlite3.*\.node\b/g) ?? [];
  } catch {
    return [];
  }
}

/** The folder of the `better-sqlite3` that Raindrop finds: if Raindrop cannot load it, the application cannot either. */
function ownCopy(): string | undefined {
  try {
    return dirname(createRequire(__filename).resolve('better-sqlite3/package.json'));
  } catch {
    return undefined;
  }
}
