export { RaindropModule, type RaindropOptionsFactory } from './raindrop.module.js';
export type { RaindropModuleExtras, RaindropModuleOptions } from './raindrop.options.js';
export type { SnowflakeModuleOptions } from './snowflake.options.js';
export { OptionsFactoryError } from './options/options-factory.js';
export { getIdServiceToken, InjectIdService } from './raindrop.tokens.js';
export { IdService } from './id.service.js';
export { NoLayoutError } from './no-layout-error.js';
export type { IdServiceEvents, IdServiceStatus, SnowflakeServiceStatus } from './id-service-status.js';
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
export { VolatileDatabaseError, type AppDataSource } from './typeorm/open-worker-store.js';
export {
  workerTableMigration,
  type WorkerTableMigrationOptions,
} from './typeorm/worker-store/worker-table-migration.js';
export { workerTableSql } from './typeorm/worker-store/worker-table-sql.js';
export { CorruptWorkerRowError } from './typeorm/worker-store/worker-row-reader.js';
export { DatabaseCallError } from './typeorm/worker-store/database-call-error.js';
export { DatabaseRefusedError, type DatabaseRefusal } from './typeorm/worker-store/database-refused-error.js';
export { InvalidTableNameError } from './typeorm/worker-store/table-name.js';
export { NotAWorkerTableError, WorkerTableMissingError } from './typeorm/worker-store/missing-tables.js';
export {
  SUPPORTED_DATABASES,
  UnsupportedDatabaseError,
  type SupportedDatabase,
} from './typeorm/worker-store/supported-database.js';

export {
  ParseIdPipe,
  type ParsedIdForm,
  type ParsedIdParameter,
  type ParseIdPipeOptions,
} from './http/parse-id.pipe.js';
export type { IdTextOptions } from './http/id-text.js';
export { BigIntInterceptor } from './http/big-int.interceptor.js';
export { bigIntsToStrings } from './http/big-ints-to-strings.js';
