import { RaindropError } from '@raindrop/core';
import { driverCodeOf, gaveWay } from '@raindrop/node/internal';

/** The template of business numbers has no meaning. */
export class InvalidNumberTemplateError extends RaindropError {
  static override readonly name = 'InvalidNumberTemplateError';
  readonly errorCode = 'INVALID_NUMBER_TEMPLATE';

  constructor(
    readonly template: unknown,
    /** The index of the first character that is wrong; the template's length when something is missing. */
    readonly position: number,
    readonly reason: string,
  ) {
    super(
      `The template ${shown(template)} is invalid: at position ${position}, ${reason}. A template is 1 to 128 ` +
        `characters of text with exactly one {seq} or {seq:1} to {seq:18} (digits, padded with zeros), and as many ` +
        `{yyyy}, {yy}, {MM} and {dd} as you like.`,
      { retryable: false },
    );
  }
}

/** The EntityManager is in no transaction, or the database has ended its transaction. */
export class TransactionRequiredError extends RaindropError {
  static override readonly name = 'TransactionRequiredError';
  readonly errorCode = 'TRANSACTION_REQUIRED';

  constructor(
    /** `none`: the EntityManager is in no transaction. `ended`: TypeORM believes in one that the database has ended. */
    readonly why: 'none' | 'ended',
  ) {
    super(`A business number requires a transaction, ${WHY[why]}`, { retryable: false });
  }
}

const WHY = {
  none:
    `but this EntityManager is in none. Use dataSource.transaction((manager) => ...) and pass its manager: only then ` +
    `does a rollback leave no gap.`,
  ended:
    `but the database ended this one: after a deadlock that was caught, or by a statement that commits (CREATE, ` +
    `ALTER, COMMIT). No number was allocated; later writes are committed. Let database errors leave the transaction, ` +
    `and run all of it again.`,
} as const;

/** The next number has more digits than the template gives it. Nothing was consumed, and the transaction can go on. */
export class BusinessNumbersExhaustedError extends RaindropError {
  static override readonly name = 'BusinessNumbersExhaustedError';
  readonly errorCode = 'BUSINESS_NUMBERS_EXHAUSTED';

  constructor(
    readonly series: string,
    readonly per: string,
    /** `''`, `2026`, `2026-03` or `2026-03-14`. */
    readonly period: string,
    /** The last number that fits. */
    readonly last: bigint,
  ) {
    super(
      `The numbers of ${nameOf(series, per)}${period === '' ? '' : ` in ${period}`} are used up: ${last} is the last ` +
        `that fits. Widen {seq:N}, and set name to '${series}' to continue the series.`,
      { retryable: false },
    );
  }
}

/** The series was numbered with another `resetBy` before: starting it anew could repeat numbers. Nothing was consumed. */
export class NumberResetChangedError extends RaindropError {
  static override readonly name = 'NumberResetChangedError';
  readonly errorCode = 'NUMBER_RESET_CHANGED';

  constructor(
    readonly series: string,
    readonly per: string,
    readonly period: string,
    /** A period of the former `resetBy`. */
    readonly formerPeriod: string,
  ) {
    super(
      `The ${nameOf(series, per)} has numbers of ` +
        `${formerPeriod === '' ? "resetBy 'never'" : `the period '${formerPeriod}'`}: with the period '${period}' it ` +
        `would start again and could repeat them. Restore the former resetBy, or begin another series, with another ` +
        `name and a template that cannot repeat the old numbers.`,
      { retryable: false },
    );
  }
}

/**
 * The database preferred another transaction: a deadlock, a serialization failure, a busy SQLite, a lock timeout. No number
 * was allocated; the whole transaction has to be run again.
 */
export class BusinessNumberConflictError extends RaindropError {
  static override readonly name = 'BusinessNumberConflictError';
  readonly errorCode = 'BUSINESS_NUMBER_CONFLICT';

  constructor(
    /**
     * Such as `ER_LOCK_DEADLOCK`, `40001` or `SQLITE_BUSY`. Two are Raindrop's own: `HELD_BY_CALLER`, when a transaction
     * around this one holds what it wants on another connection, and `TURN_TIMEOUT`, when transactions of two SQLite
     * DataSources wait for each other.
     */
    readonly driverCode: string,
    cause: unknown,
  ) {
    super(
      `The transaction conflicts with another (${driverCode}): let this error leave it, so that it is rolled back, ` +
        `and run all of it again. transactionWithRetries() does this.`,
      { retryable: true, cause },
    );
  }
}

/** Both were checked: they are short, and have no control characters. */
function nameOf(series: string, per: string): string {
  return per === '' ? `series '${series}'` : `series '${series}' for '${per}'`;
}

function shown(template: unknown): string {
  return typeof template === 'string' ? JSON.stringify(template.slice(0, 128)) : `(${typeof template})`;
}

/** The typed error when the database preferred another transaction; undefined for every other error. */
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
