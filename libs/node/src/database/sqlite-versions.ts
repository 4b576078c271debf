import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PermanentError } from '@raindrop/core/internal';

/** The versions that have to fit: that of better-sqlite3, and Node's without the `v`. */
export interface SqliteVersions {
  readonly driver: string;
  readonly node: string;
}

/** The installed better-sqlite3 would end this process with SIGSEGV when it is loaded, and has not been. */
export class UnfitSqliteDriverError extends PermanentError {
  static override readonly name = 'UnfitSqliteDriverError';
  readonly errorCode = 'UNFIT_SQLITE_DRIVER';
  /** The version of better-sqlite3. */
  readonly driver: string;
  /** The version of Node. */
  readonly node: string;

  constructor({ driver, node }: SqliteVersions) {
    super(
      `better-sqlite3 ${driver} needs Node 22.14 or later, and would crash this process (Node ${node}) when loaded. ` +
        `Run on Node 22.14 or later, or install better-sqlite3@12.`,
    );
    this.driver = driver;
    this.node = node;
  }
}

/** @throws UnfitSqliteDriverError for version 13 and later on a Node that {@link runsSqlite13} says no of */
export function refuseUnfit(versions: SqliteVersions): void {
  if (major(versions.driver) >= 13 && !runsSqlite13(versions.node)) throw new UnfitSqliteDriverError(versions);
}

/** Whether a Node can load better-sqlite3 13, which is built for Node-API 10: 22.14, 23.6 and all from 24 on. */
export function runsSqlite13(node: string): boolean {
  const minor = Number(node.split('.')[1]);
  return major(node) > 23 || (major(node) === 23 && minor >= 6) || (major(node) === 22 && minor >= 14);
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
function versionIn(manifest: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
  } catch {
    return undefined;
  }
}

/** The first number of a version. */
function major(version: string): number {
  return Number(version.split('.', 1)[0]);
}

/** The used part of `process`. */
interface BinaryLoader {
  readonly versions: { readonly node: string };
  dlopen(module: object, filename: string, flags?: number): void;
}

/**
 * Refuses the binary of a better-sqlite3 that would end the process: the application may open its own DataSource before
 * we hear of it. Below Node 22.14 only, where there is such a binary; every other binary is loaded as before.
 */
export function guardSqliteDriver(loader: BinaryLoader): void {
  const { node } = loader.versions;
  if (runsSqlite13(node)) return;
  const load = loader.dlopen.bind(loader);
  loader.dlopen = (module, filename, ...flags) => {
    const folder = /^(.*[\\/]better-sqlite3)[\\/](?:prebuilds|build)[\\/]/.exec(filename)?.[1];
    const driver = folder && versionIn(join(folder, 'package.json'));
    if (driver !== undefined) refuseUnfit({ driver, node });
    load(module, filename, ...flags);
  };
}

/** The warning for versions that work until the process aborts; undefined for others. */
export function warningOf({ driver, node }: SqliteVersions): string | undefined {
  const isFatal = major(node) > 24 || (major(node) === 24 && Number(node.split('.')[1]) >= 19);
  if (major(driver) >= 13 || !isFatal) return undefined;
  return (
    `better-sqlite3 ${driver} can abort the process on Node 24.19 and later (this is ${node}), ` +
    `as soon as a statement is garbage-collected: install better-sqlite3@13`
  );
}

let isSaid = false;

/** The warning for these versions, if there is one: once in a process, whatever the number of services. */
export function sqliteDriverWarning(versions: SqliteVersions | undefined): string[] {
  const warning = versions && warningOf(versions);
  if (warning === undefined || isSaid) return [];
  isSaid = true;
  return [warning];
}
