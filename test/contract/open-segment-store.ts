import type { DataSourceOptions } from 'typeorm';
import {
  TypeormAppSegmentStore,
  type TypeormAppSegmentStoreOptions,
} from '../../libs/nestjs/src/typeorm/segment-store/typeorm-app-segment-store.js';
import {
  TypeormSegmentStore,
  type TypeormSegmentStoreOptions,
} from '../../libs/nestjs/src/typeorm/segment-store/typeorm-segment-store.js';

/** A store of codes with everything that a test does not care about. */
export function openSegmentStore(
  dataSource: DataSourceOptions,
  options: Partial<TypeormSegmentStoreOptions> = {},
): TypeormSegmentStore {
  return new TypeormSegmentStore(dataSource, {
    tableName: 'raindrop_segment',
    autoCreateTable: true,
    autoCreateCode: true,
    defaultStep: 1_000,
    opTimeoutMs: 5_000,
    ...options,
  });
}

/** The same for apps. */
export function openAppSegmentStore(
  dataSource: DataSourceOptions,
  options: Partial<TypeormAppSegmentStoreOptions> = {},
): TypeormAppSegmentStore {
  return new TypeormAppSegmentStore(dataSource, {
    tableName: 'raindrop_app_segment',
    autoCreateTable: true,
    opTimeoutMs: 5_000,
    ...options,
  });
}
