import { RaindropError } from '@raindrop/core';

/** The packages that TypeORM loads; 0.3 names another one for MySQL in its own error. */
const PACKAGES: Readonly<Record<string, string>> = {
  mysql: 'mysql2',
  mariadb: 'mysql2',
  postgres: 'pg',
  'better-sqlite3': 'better-sqlite3',
};

/** TypeORM cannot find the package that talks to the database. */
export class DriverNotInstalledError extends RaindropError {
  readonly errorCode = 'DRIVER_NOT_INSTALLED';

  constructor(
    /** TypeORM's name of the database. */
    readonly type: string,
    /** What to install. */
    readonly packageName: string,
  ) {
    super(
      `The driver of ${type} is not installed. Run npm install ${packageName} where typeorm is installed; for a command that is ` +
        `installed globally, npm install --global ${packageName}.`,
      { retryable: false },
    );
  }

  /** For what `new DataSource()` threw; undefined when it is something else. */
  static from(error: unknown, type: string): DriverNotInstalledError | undefined {
    const packageName = PACKAGES[type];
    // By its name: the application may have another copy of TypeORM.
    const isMissing = error instanceof Error && error.constructor.name === 'DriverPackageNotInstalledError';
    return isMissing && packageName !== undefined ? new DriverNotInstalledError(type, packageName) : undefined;
  }
}
