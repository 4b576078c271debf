/**
 * What the other Raindrop packages need of this one. It is not for applications: names come and go without notice.
 *
 * @module @raindrop/node/internal
 */

export { BUSINESS_NUMBER_TABLE, KEY_COLUMNS, NAME_COLUMNS } from './business-number-table/business-number-table.js';
export { driverCodeOf } from './database/database-call-error.js';
export { gaveWay } from './database/gave-way.js';
export { isInMemory, placeOf } from './database/database-place.js';
export { quoteTable } from './database/dialect.js';
export { OwnDatabase } from './database/own-database.js';
export type { RunSql } from './database/run-sql.js';
export { guardSqliteDriver } from './database/sqlite-driver-guard.js';
export { sqliteDriverWarning } from './database/sqlite-driver-warning.js';
export { refuseUnfit, sqliteVersions } from './database/sqlite-versions.js';
export { dialectOf, isSupportedDatabase, SUPPORTED_DATABASES } from './database/supported-database.js';
export { parseTableName } from './database/table-name.js';
export { databaseAddressesOf } from './drivers/database-settings.js';
export { mysqlConnectionOf, type MysqlConnection } from './drivers/mysql-driver.js';
export { OWN_PARSERS } from './drivers/postgres-driver.js';
export { settingsDatabases } from './drivers/settings-database.js';
export { openEngine } from './engines/open-engine.js';
export { SegmentEngine } from './engines/segment-engine.js';
export { SnowflakeEngine } from './engines/snowflake-engine.js';
export { givesNothingBack } from './options/assigner-options.js';
export { guardedLogger } from './options/guarded-logger.js';
export { refuse } from './options/misplaced-options.js';
export { LAYOUT_OPTIONS, OPTION_TABLE } from './options/option-table.js';
export { refuseNonObject } from './options/options-object.js';
export { type ResolvedServiceOptions, resolveServiceOptions } from './options/service-options.js';
export { type ResolvedSnowflakeOptions, resolveSnowflakeOptions } from './options/snowflake-options.js';
export { DEFAULT_SERVICE, logContext } from './ports/logger.js';
export type { Worker } from './ports/worker.js';
export type { PublicIdText } from './public-ids/public-id-options.js';
export { readApiKey } from './remote/read-api-key.js';
export { readRefusal } from './remote/read-refusal.js';
export { remoteIdSource } from './remote/remote-id-source.js';
export type { RemoteAnswer, RemoteTransport } from './remote/remote-transport.js';
export { APP_SEGMENT_TABLE, SEGMENT_TABLE } from './segment-table/segment-tables.js';
export { SqlSegmentStore } from './segment-table/sql-segment-store.js';
export { noteCopy, otherCopies, tellCopies, type Copy } from './system/copies.js';
export { hostTimers } from './system/host-timers.js';
export { loadPackage } from './system/load-package.js';
export { isMissingPackage } from './system/missing-package.js';
export { monotonicClock } from './system/system-clock.js';
export { systemPorts } from './system/system-ports.js';
export { createMissing, prepareTable } from './tables/prepare-table.js';
export type { Table, TableKind } from './tables/table-kind.js';
export { createTable, dropTables } from './tables/table-sql.js';
export { WORKER_NODE_TABLE } from './worker-node-table/worker-node-table.js';
export { workerRowsSql } from './worker-table/worker-rows-sql.js';
export { WORKER_TABLE } from './worker-table/worker-table.js';
export { describeWorker } from './workers/describe-worker.js';
export { openWorkerStore } from './workers/open-worker-store.js';
export { SqlWorkerStore } from './worker-table/sql-worker-store.js';
