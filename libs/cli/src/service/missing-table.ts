import { DatabaseCallError } from '@raindrop/node';

/** No file, no table, no column, in the words of the three databases; for the latter two SQLite has no code. */
const CODES = ['SQLITE_CANTOPEN', 'ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR', '42P01', '42703'];

/** Whether a statement failed because the worker table is not there, or is one of the Go original without our columns. */
export function isMissingTable(error: unknown): boolean {
  if (!(error instanceof DatabaseCallError)) return false;
  return CODES.includes(error.driverCode) || /no such (table|column)/.test(error.message);
}
