import { driverCodeOf, gaveWay } from '@raindrop/node/internal';
import { BusinessNumberConflictError } from './business-number-errors.js';

/** The typed error when the database gave way to another transaction; undefined for every other error. */
export function conflictOf(error: unknown): BusinessNumberConflictError | undefined {
  if (error instanceof BusinessNumberConflictError) return error;
  const code = driverCodeOf(error);
  return gaveWay(code) ? new BusinessNumberConflictError(code, error) : undefined;
}

/** A node of Galera that is not part of its cluster: it has executed nothing. */
export function isRefusedByNode(error: unknown): boolean {
  return driverCodeOf(error) === 'ER_UNKNOWN_COM_ERROR';
}

/** Whether a statement failed because its table, or the table's schema, is not there. */
export function isMissingTable(error: unknown): boolean {
  const code = driverCodeOf(error);
  // no_such_table and unknown_database; undefined_table and invalid_schema_name
  if (['ER_NO_SUCH_TABLE', 'ER_BAD_DB_ERROR', '42P01', '3F000'].includes(code)) return true;
  return code === 'SQLITE_ERROR' && error instanceof Error && error.message.includes('no such table');
}
