import type { ModulesContainer } from '@nestjs/core';
import type { AppDataSource } from '../orm/app-data-source.js';
import { dataSourceToken } from '../orm/typeorm-bridge.js';

/** Every TypeORM DataSource that is up and provided somewhere in the application, named by some service or not. */
export function dataSourcesIn(modules: ModulesContainer): AppDataSource[] {
  const found = new Set<AppDataSource>();
  for (const { providers } of modules.values()) {
    for (const { instance } of providers.values()) {
      if (isDataSource(instance) && instance.isInitialized) found.add(instance);
    }
  }
  return [...found];
}

/** True when modules provide the DataSource of another copy of TypeORM, whose class is not the one that we ask for. */
export function hasDataSourceOfAnotherCopy(modules: ModulesContainer): boolean {
  const ours: unknown = dataSourceToken();
  return [...modules.values()].some(({ providers }) =>
    [...providers.keys()].some((token) => typeof token === 'function' && token.name === 'DataSource' && token !== ours),
  );
}

function isDataSource(instance: unknown): instance is AppDataSource {
  try {
    // By its shape: there may be a second copy of TypeORM.
    return typeof instance === 'object' && Array.isArray((instance as Partial<AppDataSource> | null)?.entityMetadatas);
  } catch {
    // A proxy of the application's.
    return false;
  }
}
