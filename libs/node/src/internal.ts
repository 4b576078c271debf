/**
 * The parts of this package for the other Raindrop packages. Not for applications: names change without notice.
 *
 * @module @raindrop/node/internal
 */

export { BUSINESS_NUMBER_TABLE, KEY_COLUMNS, NAME_COLUMNS } from './business-number-table/business-number-table.js';
export {
  type ColumnFiller,
  describeDefault,
  describeFiller,
  type FilledColumn,
  FILLER_SQL,
  readFiller,
} from './database/column-filler.js';
export {
  calledBy,
  callOf,
  foundSql,
  hasIdFunction,
  type IdFunction,
  isCallOf,
  looksIssued,
  placedFunctions,
  readDatabaseDefault,
} from './database/database-default.js';
export { driverCodeOf } from './database/database-errors.js';
export { gaveWay } from './database/left-session.js';
export { hasDigitsOf, type PrecisionReport } from './database/precision.js';
export { isInMemory, placeOf } from './database/application-database.js';
export { type Dialect, type Family, quoteTable, type RunSql } from './database/dialect.js';
export { OwnDatabase } from './database/own-database.js';
export { type ComparedColumn, comparedColumns } from './database/compared-columns.js';
export { type ListedColumns, listedColumns } from './database/sql-tokens.js';
export { guardSqliteDriver, sqliteDriverWarning, refuseUnfit, sqliteVersions } from './database/sqlite-versions.js';
export {
  dialectOf,
  isFileDatabase,
  isSupportedDatabase,
  saysGoneAnywhere,
  SUPPORTED_DATABASES,
} from './database/supported-database.js';
export { parseTableName } from './database/table-name.js';
export { databaseAddressesOf } from './drivers/database-settings.js';
export { mysqlConnectionOf, type MysqlConnection } from './drivers/mysql-driver.js';
export { OWN_PARSERS } from './drivers/postgres-driver.js';
export { settingsDatabases } from './drivers/settings-database.js';
export { closeOpenedServices, openedService } from './service/opened-services.js';
export { openEngine } from './engines/open-engine.js';
export { SegmentEngine } from './engines/segment-engine.js';
export { SnowflakeEngine } from './engines/snowflake-engine.js';
export { givesNothingBack, kindOf, nameOfUse } from './options/assigner-options.js';
export { commonOptions, guardedLogger, refuseNonObject } from './options/common-options.js';
export { refuse, serviceOptions } from './options/service-options.js';
export { type ResolvedServiceOptions, resolveServiceOptions } from './options/resolve-options.js';
export { type ResolvedSnowflakeOptions, resolveSnowflakeOptions } from './options/resolve-options.js';
export { DEFAULT_SERVICE, logContext } from './ports/logger.js';
export type { PublicIdText } from './public-ids/public-ids.js';
export { readApiKey } from './remote/remote-ids.js';
export { readRefusal } from './remote/remote-errors.js';
export type { RemoteAnswer, RemoteTransport } from './remote/remote-batch-source.js';
export { APP_SEGMENT_TABLE, SEGMENT_TABLE } from './segment-table/segment-tables.js';
export { SqlSegmentStore } from './segment-table/sql-segment-store.js';
export { registerCopy, otherCopies, describeCopies, type Copy } from './system/package-copies.js';
export { requireSupported, SUPPORTED_PEERS } from './system/peer-versions.js';
export { hostTimers, monotonicClock, systemPorts } from './system/system-ports.js';
export { loadPackage, isMissingPackage } from './system/load-package.js';
export { createMissing, prepareTable } from './tables/prepare-table.js';
export { type Table, type TableKind, createTable, dropTables } from './tables/table-kind.js';
export { WORKER_NODE_TABLE } from './worker-node-table/worker-node-table.js';
export { workerRowsSql, WORKER_TABLE } from './worker-table/worker-table.js';
export { historyTableOf, WORKER_HISTORY_TABLE } from './worker-table/worker-history.js';
export { SqlLeaseHistory, type WorkerHistoryOptions } from './worker-table/sql-lease-history.js';
export { readIssuers } from './workers/read-issuer.js';
export { describeWorker } from './workers/read-workers.js';
export { DEFAULT_NAME as DEFAULT_ID_FUNCTION } from './workers/database-id-sql.js';
export { openWorkerStore } from './workers/open-worker-store.js';
export { SqlWorkerStore } from './worker-table/sql-worker-store.js';
