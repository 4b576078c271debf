/**
 * IDs for TypeORM entities: `@GeneratedSnowflake()`, business numbers, migrations, and the database of a DataSource for
 * `openIdService()`.
 *
 * @module @raindrop/typeorm
 */

export { dataSourceDatabase } from './connection/data-source-database.js';
export { TransactionLostError } from './connection/sqlite-transactions.js';

export {
  attachIdService,
  type AttachOptions,
  type AttachedService,
  type SnowflakeTarget,
} from './generated-snowflake/attached-snowflakes.js';
export {
  GeneratedSnowflake,
  snowflakeColumn,
  type GeneratedSnowflakeOptions,
} from './generated-snowflake/generated-snowflake.decorator.js';
export type { PrecisionReport } from '@raindrop/node/internal';
export { checkPrecision, type PrecisionOptions } from './generated-snowflake/check-precision.js';
export { SnowflakeBetween } from './generated-snowflake/snowflake-between.js';
export type { IdProperty as SnowflakeProperty } from '@raindrop/core/internal';
export { EntityLintError, type EntityLint, type EntityProblem } from './generated-snowflake/entity-lint.js';
export {
  AlreadyAttachedError,
  DataSourceNotInitializedError,
  SnowflakeNotAssignedError,
  UnknownEntityError,
  UnmigratedTableError,
  type UnmigratedTable,
  UnresolvedRangeError,
  UnsupportedColumnError,
  type NotAssignedCause,
} from './generated-snowflake/snowflake-errors.js';

export {
  type TableMigration,
  type TableMigrationOptions,
  appSegmentTableMigration,
  businessNumberTableMigration,
  segmentTableMigration,
  workerHistoryTableMigration,
  workerNodeTableMigration,
  workerTableMigration,
} from './migrations/table-migrations.js';
export { databaseIdMigration, type DatabaseIdMigrationOptions } from './migrations/database-id-migration.js';

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
