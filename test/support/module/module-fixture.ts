import type { DynamicModule } from '@nestjs/common';
import { TypeOrmModule, type TypeOrmModuleOptions } from '@nestjs/typeorm';
import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { testDatabase, type DatabaseKind, type TestDatabase, type TestOptions } from '../servers/test-databases.js';
import { SILENT } from './start-app.js';

export { startApp } from './start-app.js';

/** A layout and a lease for tests: few workers, so that a table is filled at once. */
export const OPTIONS: SnowflakeModuleOptions = {
  startTimeStamp: '2026-01-01',
  timeStampLength: 33,
  workIdLength: 5,
  endBitsLength: 1,
  logger: SILENT,
};

const opened: DataSource[] = [];

/** TypeORM over a test database. */
export function typeorm(options: DataSourceOptions, name?: string): DynamicModule {
  return TypeOrmModule.forRootAsync({
    name,
    useFactory: (): TypeOrmModuleOptions => ({ ...options, name, retryAttempts: 0 }),
    dataSourceFactory: async (resolved) => {
      const source = new DataSource(resolved!);
      opened.push(source);
      return source.initialize();
    },
  });
}

/** Closes what applications have left open that did not start: Nest calls no hooks of theirs. */
async function closeDataSources(): Promise<void> {
  await Promise.all(
    opened
      .splice(0)
      .filter(({ isInitialized }) => isInitialized)
      .map((source) => source.destroy()),
  );
}

/** A database that lives as long as the suite, or anew for every test. */
export function useDatabase(kind: DatabaseKind, every: 'suite' | 'test'): { readonly options: TestOptions } {
  let database: TestDatabase;
  const [begin, end] = every === 'suite' ? [beforeAll, afterAll] : [beforeEach, afterEach];
  begin(async () => {
    database = await testDatabase(kind);
  });
  end(async () => {
    await closeDataSources();
    await database.drop();
  });
  return {
    get options() {
      return database.options;
    },
  };
}
