import { driverCodeOf } from '@raindrop/node/internal';
import { BusinessNumberConflictError } from './business-number-errors.js';

const CONFLICTS = new Set([
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  // MariaDB with innodb_snapshot_isolation, its default from 11.6 on.
  'ER_CHECKREAD',
  // serialization_failure, deadlock_detected, lock_not_available
  '40001',
  '40P01',
  '55P03',
]);

/** The typed error when the database gave way to another transaction; undefined for every other error. */
export function conflictOf(error: unknown): BusinessNumberConflictError | undefined {
  if (error instanceof BusinessNumberConflictError) return error;
  const code = driverCodeOf(error);
  const isConflict = CONFLICTS.has(code) || /^SQLITE_(BUSY|LOCKED)/.test(code);
  return isConflict ? new BusinessNumberConflictError(code, error) : undefined;
}

/** Whether a statement failed because its table, or the table's schema, is not there. */
export function isMissingTable(error: unknown): boolean {
  const code = driverCodeOf(error);
  // no_such_table and unknown_database; undefined_table and invalid_schema_name
  if (['ER_NO_SUCH_TABLE', 'ER_BAD_DB_ERROR', '42P01', '3F000'].includes(code)) return true;
  return code === 'SQLITE_ERROR' && error instanceof Error && error.message.includes('no such table');
}
