/** Codes of MySQL's server and of PostgreSQL. */
const FULL = new Set(['ER_DISK_FULL', 'ER_RECORD_FILE_FULL', '53100']);

/** SQLite cannot make or write one of its files; some file systems have other words for being full. */
const SQLITE_FULL = /^SQLITE_(FULL|IOERR|CANTOPEN)/;

/** Whether a statement failed because its database could not write: nothing is wrong with what it said. */
export function isDatabaseFull(error: unknown): boolean {
  const { code, driverError } = (error ?? {}) as Record<string, unknown>;
  if (typeof code === 'string' && (FULL.has(code) || SQLITE_FULL.test(code))) return true;
  return driverError !== undefined && driverError !== error && isDatabaseFull(driverError);
}
