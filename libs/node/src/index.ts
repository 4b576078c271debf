/**
 * IDs for a Node process without a framework: `openIdService()`, worker-id assigners, and the tables behind them on
 * MySQL, MariaDB, PostgreSQL and SQLite.
 *
 * @module @raindrop/node
 */

export { openIdService, type OpenIdServiceOptions } from './open-id-service.js';
export { IdService } from './id-service.js';
export type { ServiceOptions } from './options/service-options.js';
export type { SnowflakeModuleOptions } from './options/snowflake-options.js';
export type { SegmentModuleOptions, ShardedOptions } from './options/segment-mode-options.js';
export type { CommonModuleOptions } from './options/common-options.js';
export type { DatabaseAddress } from './options/db-config.js';
export type { AssignerOptions } from './options/assigner-options.js';
export { firstOf, type AssignerPart, type FirstOf } from './options/first-of.js';
export type { AssignerClass, AssignerName, AssignerUse } from './options/assigner-use.js';

export type { IdEngine } from './ports/id-engine.js';
export type { IdSource, SourcedService } from './ports/id-source.js';
export type { Logger } from './ports/logger.js';
export type { ReservingAssigner, StoreContext } from './ports/reserving-assigner.js';
export type { SegmentBuffer } from './ports/segment-buffer.js';
export type { WorkerGuarantee } from './ports/worker.js';
export type { IssuingCalls } from './ports/issuing-calls.js';
export { NoLayoutError } from './ports/no-layout-error.js';
export { NoShardedIdsError } from './ports/no-sharded-ids-error.js';
export type {
  IdServiceEvents,
  IdServiceStatus,
  SegmentServiceStatus,
  SnowflakeServiceStatus,
} from './ports/id-service-status.js';

export { readWorkers, type WorkersView } from './workers/read-workers.js';
export type { WorkerOdometer, WorkerState, WorkerView } from './workers/describe-worker.js';
export { fenceWorkers, type WorkerFence } from './workers/fence-workers.js';
export { StateFileCorruptError, StateFileUnusableError } from './state-file/state-file-errors.js';

export { databaseSettingsOf, type DatabaseSettings } from './drivers/database-settings.js';
export type { Driver, DriverConnection, SqlDatabase } from './database/sql-database.js';
export type { SqlResult, StatementResult } from './database/run-sql.js';
export type { ConnectionSockets } from './database/connection-sockets.js';
export { AddressConflictError } from './database/address-conflict-error.js';
export { VolatileDatabaseError } from './database/application-database.js';
export { DatabaseCallError } from './database/database-call-error.js';
export { DatabaseRefusedError, type DatabaseRefusal } from './database/database-refused-error.js';
export { DriverNotInstalledError } from './database/driver-not-installed-error.js';
export { UnfitSqliteDriverError, type SqliteVersions } from './database/sqlite-versions.js';
export { InvalidTableNameError } from './database/table-name.js';
export { UnsupportedDatabaseError, type SupportedDatabase } from './database/supported-database.js';

export { ReplicaError, ServerHiddenError } from './database/server-term.js';
export { TableFormatError } from './tables/state-table.js';
export { NotOurTableError, TableMissingError } from './tables/table-errors.js';
export type { TableKindName } from './tables/table-kind.js';
export { workerTableSql } from './worker-table/worker-table.js';
export { CorruptWorkerRowError } from './worker-table/worker-row-reader.js';
export { appSegmentTableSql, segmentTableSql } from './segment-table/segment-tables.js';
export { CorruptSegmentRowError } from './segment-table/segment-row.js';
export { UnstorableCodeError } from './segment-table/sql-segment-store.js';
export { workerNodeTableSql } from './worker-node-table/worker-node-table.js';
export { WorkerIdsUsedUpError } from './worker-node-table/worker-ids-used-up-error.js';
export { businessNumberTableSql } from './business-number-table/business-number-table.js';

// The errors that leases, segments and sources throw.
export {
  ClockSkewError,
  DatabaseRegressionError,
  ForeignRowsError,
  FormerPrimaryError,
  ForeignTimeZoneError,
  IdSourceUnavailableError,
  IdsNotReadyError,
  InvalidAppError,
  InvalidGatePassError,
  InvalidIdBatchError,
  LayoutConflictError,
  LeaseLostError,
  LeaseSuspectError,
  NoFreeWorkerError,
  NoShardedIdLeftError,
  NoWorkerIdError,
  NotReadyError,
  SegmentExhaustedError,
  SegmentNotReadyError,
  SegmentRegressionError,
  SegmentStoreUnavailableError,
  ShardedIdsNotReadyError,
  StoreUnavailableError,
  TooManyCodesError,
  UnknownAppError,
  UnknownCodeError,
  UnknownShardError,
  WorkerIdAssignerError,
} from '@raindrop/core/internal';
