import { DataSource, type DataSourceOptions } from 'typeorm';
import { testDatabase, type TestDatabase } from './test-databases.js';

/** Below every ID of a process, so that a test can tell the two apart. */
const FIRST = 1_001n;
const END = 1_000_000n;

/**
 * SQL that makes a stand-in for the function of `raindrop sql --issue`: the same name, no arguments, a bigint.
 * @param name `function` or `schema.function`, as they are written in quotes; the schema is made too
 */
export function idFunctionSql(name = 'raindrop_id'): string[] {
  const parts = name.split('.');
  const quoted = parts.map((part) => `"${part}"`).join('.');
  const sequence = [...parts.slice(0, -1), `${parts.at(-1)}_seq`].map((part) => `"${part}"`).join('.');
  return [
    ...(parts.length > 1 ? [`CREATE SCHEMA IF NOT EXISTS "${parts[0]}"`] : []),
    `CREATE SEQUENCE ${sequence} MINVALUE ${FIRST}`,
    `CREATE FUNCTION ${quoted}() RETURNS bigint LANGUAGE sql AS $$ SELECT nextval('${sequence}') $$`,
  ];
}

/** Whether the stand-in has issued an ID. */
export function isOfDatabase(id: unknown): boolean {
  const digits = BigInt(id as string);
  return digits >= FIRST && digits < END;
}

/** Makes the stand-in in a database of PostgreSQL. */
export async function makeIdFunction(options: DataSourceOptions, name?: string): Promise<void> {
  const dataSource = await new DataSource(options).initialize();
  try {
    for (const sql of idFunctionSql(name)) await dataSource.query(sql);
  } finally {
    await dataSource.destroy();
  }
}

/** A database of PostgreSQL with the stand-in. */
export async function issuingDatabase(): Promise<TestDatabase> {
  const database = await testDatabase('postgres');
  await makeIdFunction(database.options);
  return database;
}
