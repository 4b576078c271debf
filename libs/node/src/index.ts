/**
 * IDs for a Node process without a framework: `openIdService()`, worker-id assigners, and the tables behind them on
 * MySQL, MariaDB, PostgreSQL and SQLite.
 *
 * All exports of `@raindrop/core` are here as well, so that one installed package is enough.
 *
 * @module @raindrop/node
 */

export { openIdService, type OpenIdServiceOptions } from './service/open-id-service.js';
export { IdService, type NumberService, type OpenService } from './service/id-service.js';
export { NoOpenServiceError } from './service/opened-services.js';
export type {
  ServiceOptions,
  SnowflakeModuleOptions,
  SegmentModuleOptions,
  ShardedOptions,
} from './options/service-options.js';
export type { CommonModuleOptions, DatabaseAddress } from './options/common-options.js';
export {
  type AssignerOptions,
  firstOf,
  type AssignerPart,
  type FirstOf,
  type AssignerClass,
  type AssignerName,
  type AssignerUse,
} from './options/assigner-options.js';

export {
  type IdEngine,
  type IdSource,
  type SourcedService,
  type IssuingCalls,
  NoLayoutError,
  NoShardedIdsError,
  type IdServiceEvents,
  type IdServiceStatus,
  type SegmentServiceStatus,
  type SnowflakeServiceStatus,
} from './ports/id-engine.js';
export type { Logger } from './ports/logger.js';
export type { ReservingAssigner, StoreContext, SegmentBuffer, WorkerGuarantee } from './ports/worker.js';

export {
  readWorkers,
  type WorkersView,
  type WorkerOdometer,
  type WorkerState,
  type WorkerView,
} from './workers/read-workers.js';
export { databaseIdSql, type DatabaseIdOptions } from './workers/database-id-sql.js';
export { openBackfill, type BackfillOptions, type BackfillTable } from './workers/open-backfill.js';
export { PastOccupiedError } from './workers/occupied-past.js';
export {
  type IdIssuer,
  type IssuerFinding,
  type IssuerView,
  NoWorkerHistoryError,
  readIssuer,
} from './workers/read-issuer.js';
export { fenceWorkers, type FenceStatements, type WorkerFence } from './workers/fence-workers.js';
export { StateFileCorruptError, StateFileUnusableError } from './state-file/state-directory.js';

export { databaseSettingsOf, type DatabaseSettings } from './drivers/database-settings.js';
export type { Driver, DriverConnection, SqlDatabase } from './database/sql-database.js';
export type { SqlResult, StatementResult } from './database/dialect.js';
export type { ConnectionSockets } from './database/connection-sockets.js';
export { AddressConflictError } from './database/addressed-connection.js';
export { VolatileDatabaseError } from './database/application-database.js';
export {
  DatabaseCallError,
  DatabaseRefusedError,
  type DatabaseRefusal,
  DriverNotInstalledError,
} from './database/database-errors.js';
export { UnsupportedVersionError } from './system/peer-versions.js';
export { UnfitSqliteDriverError, type SqliteVersions } from './database/sqlite-versions.js';
export { InvalidTableNameError } from './database/table-name.js';
export { UnsupportedDatabaseError, type SupportedDatabase } from './database/supported-database.js';

export { ReplicaError, ServerHiddenError } from './database/server-term.js';
export { TableFormatError } from './tables/state-table.js';
export { NotOurTableError, TableMissingError } from './tables/prepare-table.js';
export type { TableKindName } from './tables/table-kind.js';
export { workerTableSql } from './worker-table/worker-table.js';
export { workerHistoryTableSql } from './worker-table/worker-history.js';
export { CorruptWorkerRowError } from './worker-table/worker-statements.js';
export { appSegmentTableSql, segmentTableSql } from './segment-table/segment-tables.js';
export { CorruptSegmentRowError } from './segment-table/segment-statements.js';
export { UnstorableCodeError } from './segment-table/sql-segment-store.js';
export { workerNodeTableSql } from './worker-node-table/worker-node-table.js';
export { WorkerIdsUsedUpError } from './worker-node-table/disposable-assigner.js';
export { businessNumberTableSql } from './business-number-table/business-number-table.js';

export * from '@raindrop/core';
