import { major, type SqliteVersions } from './sqlite-versions.js';

/** What is to be said of versions that work until the process is aborted; undefined for others. */
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
