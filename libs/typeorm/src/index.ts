/**
 * IDs for TypeORM entities: `@GeneratedSnowflake()`, business numbers, migrations, and the database of a DataSource for
 * `openIdService()`.
 *
 * @module @raindrop/typeorm
 */

export { dataSourceDatabase } from './connection/data-source-database.js';
export { TransactionLostError } from './connection/transaction-lost-error.js';

export { attachIdService, type AttachOptions, type AttachedService } from './generated-snowflake/attach-id-service.js';
export { GeneratedSnowflake } from './generated-snowflake/generated-snowflake.decorator.js';
export { snowflakeColumn } from './generated-snowflake/snowflake-column.js';
export type { GeneratedSnowflakeOptions } from './generated-snowflake/snowflake-column-options.js';
export { SnowflakeBetween } from './generated-snowflake/snowflake-between.js';
export type { SnowflakeTarget } from './generated-snowflake/attached-snowflakes.js';
export { EntityLintError, type EntityLint, type EntityProblem } from './generated-snowflake/entity-lint.js';
export type { SnowflakeProperty } from './generated-snowflake/snowflake-form.js';
export {
  AlreadyAttachedError,
  DataSourceNotInitializedError,
  SnowflakeNotAssignedError,
  UnknownEntityError,
  UnresolvedRangeError,
  UnsafeSnowflakeError,
  UnsupportedColumnError,
  type NotAssignedCause,
} from './generated-snowflake/snowflake-errors.js';

export type { TableMigration, TableMigrationOptions } from './migrations/table-migration.js';
export {
  appSegmentTableMigration,
  businessNumberTableMigration,
  segmentTableMigration,
  workerNodeTableMigration,
  workerTableMigration,
} from './migrations/table-migrations.js';

export { businessNumber } from './business-number/business-number.js';
export type { BusinessNumberOptions, ResetBy } from './business-number/business-number-options.js';
export { transactionWithRetries, type RetryOptions } from './business-number/transaction-with-retries.js';
export { prepareBusinessNumbers } from './business-number/prepare-business-numbers.js';
export {
  BusinessNumberConflictError,
  BusinessNumbersExhaustedError,
  InvalidNumberTemplateError,
  NumberResetChangedError,
  TransactionRequiredError,
} from './business-number/business-number-errors.js';
