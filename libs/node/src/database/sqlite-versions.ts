import { RaindropError } from '@raindrop/core';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The versions that have to fit: that of better-sqlite3, and Node's without the `v`. */
export interface SqliteVersions {
  readonly driver: string;
  readonly node: string;
}

/** The installed better-sqlite3 would end this process with SIGSEGV when it is loaded, and has not been. */
export class UnfitSqliteDriverError extends RaindropError {
  readonly errorCode = 'UNFIT_SQLITE_DRIVER';
  /** The version of better-sqlite3. */
  readonly driver: string;
  /** The version of Node. */
  readonly node: string;

  constructor({ driver, node }: SqliteVersions) {
    super(
      `better-sqlite3 ${driver} needs Node 22 or later, and would end this process (Node ${node}) when it is loaded. ` +
        `Run on Node 22 or later, or install better-sqlite3@12.`,
      { retryable: false },
    );
    this.driver = driver;
    this.node = node;
  }
}

/** @throws UnfitSqliteDriverError for version 13 and later below Node 22 */
export function refuseUnfit(versions: SqliteVersions): void {
  if (major(versions.driver) >= 13 && major(versions.node) < 22) throw new UnfitSqliteDriverError(versions);
}

/**
 * The versions in use, found without loading the driver; undefined when nothing is found, as in a bundle.
 * @param from the file that loads the driver, or will
 */
export function sqliteVersions(from: string): SqliteVersions | undefined {
  try {
    const driver = versionIn(createRequire(from).resolve('better-sqlite3/package.json'));
    return driver === undefined ? undefined : { driver, node: process.versions.node };
  } catch {
    return undefined;
  }
}

/** The version that a package.json says; undefined where there is none, as in a bundle. */
export function versionIn(manifest: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** The first number of a version. */
export function major(version: string): number {
  return Number(version.split('.', 1)[0]);
}
