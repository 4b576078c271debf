import { RaindropError } from '@raindrop/core';

/**
 * A statement or a connection failed. Whether the statement was, or will be, executed is unknown.
 *
 * It keeps the driver's words and code and nothing else: the drivers' own errors carry the statement with its values,
 * tokens among them, which have no place in a log.
 */
export class DatabaseCallError extends RaindropError {
  readonly errorCode = 'DATABASE_CALL_FAILED';

  constructor(
    readonly reason: string,
    /** The driver's code, such as `ER_DUP_FIELDNAME`, `42P07`, `SQLITE_BUSY` or `ECONNREFUSED`; '' when there is none. */
    readonly driverCode: string,
  ) {
    super(driverCode === '' ? reason : `${reason} (${driverCode})`, { retryable: true });
  }

  /** What TypeORM, a driver or Node threw. */
  static from(error: unknown): DatabaseCallError {
    if (error instanceof DatabaseCallError) return error;
    const code = driverCodeOf(error);
    if (error instanceof AggregateError && error.message === '') {
      // Node tries a name's addresses in turn, and its error has words only inside.
      const reasons = error.errors.map((each) => (each instanceof Error ? each.message : String(each)));
      return new DatabaseCallError(reasons.join('; '), code);
    }
    return new DatabaseCallError(error instanceof Error ? error.message : String(error), code);
  }
}

/** The code of a driver's error, also inside TypeORM's QueryFailedError; '' when there is none. */
export function driverCodeOf(error: unknown): string {
  const { driverError, code } = (error ?? {}) as { driverError?: unknown; code?: unknown };
  if (driverError !== undefined && driverError !== error) return driverCodeOf(driverError);
  return typeof code === 'string' ? code : '';
}
