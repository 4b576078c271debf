import type { DataSourceOptions } from 'typeorm';
import type { SegmentDatabaseOptions } from '../../../libs/node/src/segment-table/segment-database.js';
import {
  SqlAppSegmentStore,
  SqlSegmentStore,
  type SqlSegmentStoreOptions,
} from '../../../libs/node/src/segment-table/sql-segment-store.js';
import { sqlDatabase } from './sql-database.js';

/** A store of codes with everything that a test does not care about. */
export function openSegmentStore(
  dataSource: DataSourceOptions,
  options: Partial<SqlSegmentStoreOptions> = {},
): SqlSegmentStore {
  return new SqlSegmentStore(sqlDatabase(dataSource), {
    tableName: 'raindrop_segment',
    autoCreateTable: true,
    autoCreateCode: true,
    defaultStep: 1_000,
    opTimeoutMs: 5_000,
    skipAfterFailover: 1_000_000,
    ...options,
  });
}

/** The same for apps. */
export function openAppSegmentStore(
  dataSource: DataSourceOptions,
  options: Partial<SegmentDatabaseOptions> = {},
): SqlAppSegmentStore {
  return new SqlAppSegmentStore(sqlDatabase(dataSource), {
    tableName: 'raindrop_app_segment',
    autoCreateTable: true,
    opTimeoutMs: 5_000,
    skipAfterFailover: 1_000_000,
    ...options,
  });
}
