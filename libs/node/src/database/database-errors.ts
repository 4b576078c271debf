import { PermanentError, RetryableError } from '@raindrop/core/internal';
import { isMissingPackage } from '../system/load-package.js';
import type { SupportedDatabase } from './supported-database.js';

/**
 * A statement or a connection failed. Whether the statement was, or will be, executed is unknown.
 *
 * It keeps the driver's words and code and nothing else: the drivers' own errors carry the statement with its values,
 * tokens among them, which have no place in a log.
 */
export class DatabaseCallError extends RetryableError {
  static override readonly name = 'DatabaseCallError';
  readonly errorCode = 'DATABASE_CALL_FAILED';

  constructor(
    readonly reason: string,
    /**
     * The driver's code, such as `ER_DUP_FIELDNAME`, `42P07`, `SQLITE_BUSY` or `ECONNREFUSED`; '' when there is none.
     */
    readonly driverCode: string,
  ) {
    super(driverCode === '' ? reason : `${reason} (${driverCode})`);
  }

  /** The error of TypeORM, a driver or Node. */
  static from(error: unknown): DatabaseCallError {
    if (error instanceof DatabaseCallError) return error;
    const code = driverCodeOf(error);
    if (error instanceof AggregateError && error.message === '') {
      // Node tries a name's addresses in turn, and its error has words only inside.
      const reasons = error.errors.map((each) => (each instanceof Error ? each.message : String(each)));
      return new DatabaseCallError(reasons.join('; '), code);
    }
    return new DatabaseCallError(error instanceof Error ? withHint(error, code) : String(error), code);
  }
}

/** The codes that our own functions in PostgreSQL raise: their hints say what to do. Other hints may quote a statement. */
const OUR_CODES = /^RD\d{3}$/;

function withHint({ message, hint }: Error & { readonly hint?: unknown }, code: string): string {
  return OUR_CODES.test(code) && typeof hint === 'string' ? `${message}. ${hint.replace(/\.$/, '')}` : message;
}

/** The code of a driver's error, also inside TypeORM's QueryFailedError; '' when there is none. */
export function driverCodeOf(error: unknown): string {
  const { driverError, code } = (error ?? {}) as { driverError?: unknown; code?: unknown };
  if (driverError !== undefined && driverError !== error) return driverCodeOf(driverError);
  return typeof code === 'string' ? code : '';
}

/** Codes that the server itself answered: MySQL's names, and the SQLSTATEs of PostgreSQL. EPIPE is not one. */
const OF_SERVER = /^ER_|^SQLITE_|^(?=.*\d)[\dA-Z]{5}$/;

/** Whether a driver's code is that of a server's answer: the connection was not lost. */
export function isOfServer(driverCode: string): boolean {
  return OF_SERVER.test(driverCode);
}

/** The object of a refusal: the account, the named database, or the rights of the account. */
export type DatabaseRefusal = 'account' | 'database' | 'rights';

/**
 * The database answers, and refuses. No second try helps at the start, and tries with a wrong password lock accounts;
 * a lease that is already held goes on trying.
 *
 * Like DatabaseCallError it keeps the driver's words and code and nothing else.
 */
export class DatabaseRefusedError extends PermanentError {
  static override readonly name = 'DatabaseRefusedError';
  readonly errorCode = 'DATABASE_REFUSED';

  constructor(
    /** `account`: user or password; `database`: it does not exist; `rights`: the account lacks them. */
    readonly refusal: DatabaseRefusal,
    readonly reason: string,
    /**
     * The driver's code, such as `ER_ACCESS_DENIED_ERROR` or `28P01`; '' for a write that changes nothing without a
     * word.
     */
    readonly driverCode: string,
    configuredBy: string,
  ) {
    const code = driverCode === '' ? '' : ` (${driverCode})`;
    super(`The database refused: ${reason}${code}. ${adviceFor(refusal, configuredBy)}.`);
  }
}

function adviceFor(refusal: DatabaseRefusal, configuredBy: string): string {
  if (refusal === 'account') return `Check user and password in ${configuredBy}`;
  if (refusal === 'database')
    return `Create the missing object, or correct its name in ${configuredBy} or in tableName`;
  return `Grant the account SELECT, INSERT and UPDATE on the table, or use another account in ${configuredBy}`;
}

/** The package of the driver of each type of database. */
export const DRIVER_PACKAGES: Readonly<Record<SupportedDatabase, string>> = {
  mysql: 'mysql2',
  mariadb: 'mysql2',
  postgres: 'pg',
  'better-sqlite3': 'better-sqlite3',
};

/** The package that talks to the database is not installed, or cannot be loaded. */
export class DriverNotInstalledError extends PermanentError {
  static override readonly name = 'DriverNotInstalledError';
  readonly errorCode = 'DRIVER_NOT_INSTALLED';
  /** The package to install. */
  readonly packageName: string;

  constructor(
    /** The `type` of the database. */
    readonly type: string,
    cause?: unknown,
    /** What else there is to say, as whole sentences. */
    more?: string,
  ) {
    const packageName = (DRIVER_PACKAGES as Readonly<Record<string, string>>)[type] ?? type;
    const isMissing = !(cause instanceof Error) || isMissingPackage(cause, packageName);
    const problem = isMissing
      ? `The driver of ${type} is not installed. Run npm install ${packageName} in your application; for a ` +
        `globally installed command, npm install --global ${packageName}.`
      : `The driver of ${type}, ${packageName}, cannot be loaded: ${cause.message}. Run npm rebuild ` +
        `${packageName}, or reinstall it with this version of Node.`;
    super(more === undefined ? problem : `${problem} ${more}`, cause);
    this.packageName = packageName;
  }
}
