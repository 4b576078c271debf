import type { Type } from '@nestjs/common';
import { IdService, RaindropModule, type SnowflakeModuleOptions } from '@raindrop/nestjs';
import type { DataSourceOptions } from 'typeorm';
import { OPTIONS, startApp, typeorm } from '../../support/module/module-fixture.js';
import type { TestOptions } from '../../support/servers/test-databases.js';

/** An application with the module, and how to end it. */
export interface ModuleApp {
  readonly ids: IdService;
  get<T>(type: Type<T>): T;
  close(): Promise<void>;
}

/** Starts an application that has the module and nothing else, with a database of the lease's. */
export function startModule(dbConfig: TestOptions, options: Partial<SnowflakeModuleOptions>): Promise<ModuleApp> {
  return start([RaindropModule.forRoot({ ...OPTIONS, ...options, dbConfig })]);
}

/** Starts an application with the module on the DataSource of the application's own. */
export function startModuleBesideTypeorm(
  database: DataSourceOptions,
  options: Partial<SnowflakeModuleOptions>,
): Promise<ModuleApp> {
  return start([typeorm(database), RaindropModule.forRoot({ ...OPTIONS, ...options })]);
}

async function start(imports: Parameters<typeof startApp>[0]): Promise<ModuleApp> {
  const app = await startApp(imports);
  return { ids: app.get(IdService), get: (type) => app.get(type), close: () => app.close() };
}
