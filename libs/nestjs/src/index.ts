/**
 * The module and `IdService` for Nest, the worker table and `@GeneratedSnowflake()` for TypeORM, worker-id assigners,
 * segments, business numbers.
 *
 * @module @raindrop/nestjs
 */

export { RaindropModule, type RaindropOptionsFactory } from './raindrop.module.js';
export type { RaindropModuleExtras, RaindropModuleOptions } from './raindrop.options.js';
export {
  resolveSnowflakeOptions,
  type ResolvedSnowflakeOptions,
  type SnowflakeModuleOptions,
} from './snowflake.options.js';
export type { SegmentModuleOptions, ShardedOptions } from './segment/segment.options.js';
export type { SegmentBuffer } from './segment/segment-buffer.js';
export { OptionsFactoryError } from './options/options-factory.js';
export { getIdServiceToken, InjectIdService } from './raindrop.tokens.js';
export { IdService } from './id.service.js';
export type { IdEngine } from './id-engine.js';
export type { IdSource, SourcedService } from './id-source/id-source.js';
export { clusterPrimary, type ClusterPrimaryOptions } from './threads/cluster/cluster-primary.js';
export { ClusterIdBroker, type BrokeredIds } from './threads/cluster/cluster-id-broker.js';
export {
  ClusterLayoutError,
  InvalidClusterMessageError,
  PrimaryGoneError,
  PrimaryRefusedError,
} from './threads/cluster/cluster-errors.js';
export { NoLayoutError } from './no-layout-error.js';
export { NoShardedIdsError } from './no-sharded-ids-error.js';
export type {
  IdServiceEvents,
  IdServiceStatus,
  SegmentServiceStatus,
  SnowflakeServiceStatus,
} from './id-service-status.js';
export { firstOf, type AssignerPart, type FirstOf } from './worker-id/first-of.js';
export type { AssignerName, AssignerUse } from './worker-id/assigner-use.js';
export type { ReservingAssigner, StoreContext } from './worker-id/reserving-assigner.js';
export type { WorkerGuarantee } from './lease/worker.js';
export { StateFileCorruptError, StateFileUnusableError } from './state-file/state-file-errors.js';
export { stateFileLease } from './state-file/state-file-lease.js';
export { DISPOSABLE_MIN_WORKER_BITS } from './typeorm/disposable/disposable-limits.js';
export {
  NotAWorkerNodeTableError,
  WorkerIdsUsedUpError,
  WorkerNodeTableMissingError,
} from './typeorm/disposable/disposable-errors.js';
export { workerNodeTableSql } from './typeorm/disposable/worker-node-table.js';
export {
  workerNodeTableMigration,
  type WorkerNodeTableMigration,
  type WorkerNodeTableMigrationOptions,
} from './typeorm/disposable/worker-node-table-migration.js';
export { readWorkers, type WorkersView } from './lease/read-workers.js';
export { describeWorker, type WorkerOdometer, type WorkerState, type WorkerView } from './lease/describe-worker.js';
export { fenceWorkers, type WorkerFence } from './lease/fence-workers.js';

export { GeneratedSnowflake } from './typeorm/generated-snowflake/generated-snowflake.decorator.js';
export { snowflakeColumn } from './typeorm/generated-snowflake/snowflake-column.js';
export type { GeneratedSnowflakeOptions } from './typeorm/generated-snowflake/snowflake-column-options.js';
export { SnowflakeBetween } from './typeorm/generated-snowflake/snowflake-between.js';
export type { SnowflakeTarget } from './typeorm/generated-snowflake/attached-snowflakes.js';
export { EntityLintError, type EntityLint, type EntityProblem } from './typeorm/generated-snowflake/entity-lint.js';
export type { SnowflakeProperty } from './typeorm/generated-snowflake/snowflake-form.js';
export { safeSqliteIntegers, type SqliteDatabase } from './typeorm/generated-snowflake/safe-sqlite-integers.js';
export {
  AlreadyAttachedError,
  DataSourceNotInitializedError,
  SnowflakeNotAssignedError,
  UnknownEntityError,
  UnresolvedRangeError,
  UnsafeSnowflakeError,
  UnsupportedColumnError,
  type NotAssignedCause,
} from './typeorm/generated-snowflake/snowflake-errors.js';

export { databaseOptionsOf, type DatabaseConfig, type DatabaseOptions } from './typeorm/database-config.js';
export { VolatileDatabaseError, type AppDataSource } from './typeorm/application-database.js';
export {
  workerTableMigration,
  type WorkerTableMigrationOptions,
} from './typeorm/worker-store/worker-table-migration.js';
export { openWorkerStore } from './typeorm/open-worker-store.js';
export { workerRowsSql } from './typeorm/worker-store/worker-rows-sql.js';
export { workerTableSql } from './typeorm/worker-store/worker-table-sql.js';
export { CorruptWorkerRowError } from './typeorm/worker-store/worker-row-reader.js';
export { DatabaseCallError } from './typeorm/database/database-call-error.js';
export { DatabaseRefusedError, type DatabaseRefusal } from './typeorm/database/database-refused-error.js';
export { TransactionLostError } from './typeorm/database/transaction-lost-error.js';
export { InvalidTableNameError } from './typeorm/database/table-name.js';
export { NotAWorkerTableError, WorkerTableMissingError } from './typeorm/worker-store/missing-tables.js';
export { DriverNotInstalledError } from './typeorm/database/driver-not-installed-error.js';
export { UnfitSqliteDriverError, type SqliteVersions } from './typeorm/database/sqlite-driver.js';
export {
  SUPPORTED_DATABASES,
  UnsupportedDatabaseError,
  type SupportedDatabase,
} from './typeorm/database/supported-database.js';

export {
  ParseIdPipe,
  type ParsedIdForm,
  type ParsedIdParameter,
  type ParseIdPipeOptions,
} from './http/parse-id.pipe.js';
export type { IdTextOptions } from './http/id-text.js';
export { BigIntInterceptor } from './http/big-int.interceptor.js';
export { bigIntsToStrings } from './http/big-ints-to-strings.js';

export { segmentTableSql, appSegmentTableSql } from './typeorm/segment-store/segment-table-sql.js';
export {
  appSegmentTableMigration,
  segmentTableMigration,
  type SegmentTableMigration,
  type SegmentTableMigrationOptions,
} from './typeorm/segment-store/segment-table-migration.js';
export { NotASegmentTableError, SegmentTableMissingError } from './typeorm/segment-store/missing-segment-table.js';
export { CorruptSegmentRowError } from './typeorm/segment-store/segment-row.js';
export { SegmentStoreClosedError } from './typeorm/segment-store/segment-database.js';
export { UnstorableCodeError } from './typeorm/segment-store/typeorm-segment-store.js';

export { businessNumber } from './typeorm/business-number/business-number.js';
export type { BusinessNumberOptions, ResetBy } from './typeorm/business-number/business-number-options.js';
export { transactionWithRetries, type RetryOptions } from './typeorm/business-number/transaction-with-retries.js';
export { prepareBusinessNumbers } from './typeorm/business-number/prepare-business-numbers.js';
export {
  businessNumberTableMigration,
  type BusinessNumberTableMigration,
  type BusinessNumberTableMigrationOptions,
} from './typeorm/business-number/business-number-table-migration.js';
export { businessNumberTableSql } from './typeorm/business-number/number-table.js';
export {
  BusinessNumberConflictError,
  BusinessNumbersExhaustedError,
  BusinessNumberTableMissingError,
  InvalidNumberTemplateError,
  NumberResetChangedError,
  TransactionRequiredError,
} from './typeorm/business-number/business-number-errors.js';
