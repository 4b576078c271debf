import type { SnowflakeModuleOptions } from '@raindrop/nestjs';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import type { TestDatabase } from '../../support/servers/test-databases.js';
import { compiledMigration } from './compiled-migration.js';

/** What `raindrop adopt --json` answers. */
export interface Adoption {
  readonly keys: readonly {
    readonly table: string;
    readonly column: string;
    readonly type: string;
    readonly isGenerated: boolean;
    readonly highest: string;
  }[];
  readonly highest: string;
  readonly references: readonly { readonly table: string; readonly column: string }[];
  readonly loose: readonly { readonly table: string; readonly column: string; readonly perhaps: string | null }[];
  readonly keepsNumbers: boolean;
  readonly mustWiden: readonly string[];
  readonly obstacles: readonly string[];
  readonly firstNewId: string;
  readonly options: SnowflakeModuleOptions;
  readonly migration: string;
}

interface Settings {
  readonly entities?: EntityTarget<ObjectLiteral>[];
  readonly migration?: string;
  readonly create?: true;
}

/** Does the work with an application's connection, with the migration among its own. */
export async function using<T>(
  { options }: TestDatabase,
  { entities = [], migration, create }: Settings,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const dataSource = new DataSource({
    ...options,
    entities: entities as never,
    synchronize: create ?? false,
    migrations: migration === undefined ? [] : [compiledMigration(migration)],
  });
  await dataSource.initialize();
  try {
    return await work(dataSource);
  } finally {
    await dataSource.destroy();
  }
}
