import { RaindropError } from '@raindrop/core';

/** The package that each database's driver comes in. */
const PACKAGES: Readonly<Record<string, string>> = {
  mysql: 'mysql2',
  mariadb: 'mysql2',
  postgres: 'pg',
  'better-sqlite3': 'better-sqlite3',
};

/** The package that talks to the database is not installed. */
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
    super(
      `The driver of ${type} is not installed. Run npm install ${packageName} in your application; for a command that is ` +
        `installed globally, npm install --global ${packageName}.`,
      { retryable: false, cause },
    );
    this.packageName = packageName;
  }
}
