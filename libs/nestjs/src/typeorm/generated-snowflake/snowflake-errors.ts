import { RaindropError } from '@raindrop/core';

/** A column or an option that `@GeneratedSnowflake()` cannot work with. */
export class UnsupportedColumnError extends RaindropError {
  readonly errorCode = 'UNSUPPORTED_COLUMN';

  constructor(
    /** `Entity.property`. */
    readonly column: string,
    readonly reason: string,
  ) {
    super(`@GeneratedSnowflake() on ${column}: ${reason}.`, { retryable: false });
  }
}

/** An insert reached the database layer without an ID: nothing had filled the column. Nothing was written. */
export class SnowflakeNotAssignedError extends RaindropError {
  readonly errorCode = 'SNOWFLAKE_NOT_ASSIGNED';

  constructor(
    readonly service: string,
    /** `Entity.property`; undefined when no service was ever attached to the DataSource. */
    readonly column: string | undefined,
  ) {
    super(
      column === undefined
        ? `A @GeneratedSnowflake() column was inserted without an ID, because service '${service}' is not attached to ` +
            `its DataSource. Import RaindropModule${service === 'default' ? '' : ` with name '${service}'`} and save ` +
            `after it is up; for a DataSource made outside Nest, or initialised anew, call ids.attach(dataSource).`
        : `${column} was inserted without an ID: this way of inserting calls no subscribers (listeners: false, ` +
            `callListeners(false)). Leave that option out, or set ${column} to a new ID of service '${service}' first.`,
      { retryable: false },
    );
  }
}

/** A value that is no ID any more, or cannot be one: above 2^53 - 1 a JavaScript number has lost digits. */
export class UnsafeSnowflakeError extends RaindropError {
  readonly errorCode = 'UNSAFE_SNOWFLAKE';

  constructor(
    /** `Entity.property`; undefined when no service was ever attached to the DataSource. */
    readonly column: string | undefined,
    readonly given: string | number,
    /** Where the value came from. */
    readonly origin: 'database' | 'application' | 'source',
  ) {
    super(
      `${column ?? 'A @GeneratedSnowflake() column'}: ${typeof given === 'string' ? JSON.stringify(given.slice(0, 48)) : given} ` +
        `${MEANING[origin]}`,
      { retryable: false },
    );
  }
}

const MEANING = {
  database:
    'came from the database driver and is not an exact ID as this property holds it; above 2^53 - 1 numbers lose ' +
    'digits. Make the property a string, and let the driver deliver exact integers: better-sqlite3 with ' +
    'prepareDatabase: safeSqliteIntegers, mysql2 with supportBigNumbers, pg without parseInt8.',
  application: 'is not an exact integer: above 2^53 - 1 numbers lose digits. Pass IDs as strings or bigints.',
  source: 'does not fit a JavaScript number: the layout has passed 2^53 - 1. Make the property a string.',
} as const;

/** `attachSnowflakes` was given a DataSource that has no metadata yet. */
export class DataSourceNotInitializedError extends RaindropError {
  readonly errorCode = 'DATA_SOURCE_NOT_INITIALIZED';

  constructor(readonly service: string) {
    super(
      `Service '${service}' cannot be attached to a DataSource that is not initialised: await dataSource.initialize() ` +
        `first, and attach again after every initialize().`,
      { retryable: false },
    );
  }
}

/** Another service of the same name fills the columns of this DataSource already. */
export class AlreadyAttachedError extends RaindropError {
  readonly errorCode = 'ALREADY_ATTACHED';

  constructor(readonly service: string) {
    super(
      `Another service named '${service}' is attached to this DataSource already. Is RaindropModule imported twice? Give one of ` +
        `the two another name and say { service: '<name>' } in the columns it is for.`,
      { retryable: false },
    );
  }
}
