import { RaindropError } from '@raindrop/core';
import { isMissingPackage } from '../system/missing-package.js';

/** The package that each database's driver comes in. */
const PACKAGES: Readonly<Record<string, string>> = {
  mysql: 'mysql2',
  mariadb: 'mysql2',
  postgres: 'pg',
  'better-sqlite3': 'better-sqlite3',
};

/** The package that talks to the database is not installed, or cannot be loaded. */
export class DriverNotInstalledError extends RaindropError {
  readonly errorCode = 'DRIVER_NOT_INSTALLED';
  /** The package to install. */
  readonly packageName: string;

  constructor(
    /** The `type` of the database. */
    readonly type: string,
    cause?: unknown,
  ) {
    const packageName = PACKAGES[type] ?? type;
    const isMissing = !(cause instanceof Error) || isMissingPackage(cause, packageName);
    super(
      isMissing
        ? `The driver of ${type} is not installed. Run npm install ${packageName} in your application; for a command that ` +
            `is installed globally, npm install --global ${packageName}.`
        : `The driver of ${type}, ${packageName}, cannot be loaded: ${cause.message}. Run npm rebuild ${packageName}, or ` +
            `install it again with the Node that runs this.`,
      { retryable: false, cause },
    );
    this.packageName = packageName;
  }
}
