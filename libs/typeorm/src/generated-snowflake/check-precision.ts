import type { DataSource } from 'typeorm';
import { ConfigurationError, type Layout } from '@raindrop/core';
import { type PrecisionReport, refuseNonObject } from '@raindrop/node/internal';
import { attachedTo, attachSnowflakes } from './attach-snowflakes.js';
import type { EntityLint } from './entity-lint.js';
import { findColumns, servicesOf, type SnowflakeSource } from './generated-column.js';
import { lookAtColumns } from './real-columns.js';
import { DataSourceNotInitializedError, SnowflakeNotAssignedError } from './snowflake-errors.js';

/** The options of {@link checkPrecision}. */
export interface PrecisionOptions {
  /** The layout of the IDs of services that are not attached. @defaultValue IDs of 63 bits */
  readonly layout?: Layout;
}

/**
 * Sends the largest ID of each service over the DataSource's own connection and compares the result, and checks that the
 * columns of IDs are wide enough in the database: one query for each service. In Nest the module does this at its start;
 * elsewhere await it after `attachIdService()`. It also checks columns whose service is not attached.
 * @param dataSource initialised
 * @throws EntityLintError, which names each column and the cure; DataSourceNotInitializedError; ConfigurationError when no
 * entity has a `@GeneratedSnowflake()`
 */
export async function checkPrecision(
  dataSource: DataSource,
  { layout }: PrecisionOptions = {},
): Promise<PrecisionReport> {
  refuseNonObject('dataSource', dataSource, 'must be a DataSource of TypeORM');
  if (!dataSource.isInitialized) throw new DataSourceNotInitializedError('default');
  const attached: SnowflakeSource[] = attachedTo(dataSource).map(({ source }) => source);
  const sources = [...attached, ...missingServices(dataSource, attached).map((name) => standIn(name, layout))];
  if (sources.every((each) => findColumns(dataSource, each).generated.length === 0)) {
    const message = 'have no column with @GeneratedSnowflake()';
    throw new ConfigurationError([{ option: 'entities', given: 'those of the DataSource', message }]);
  }
  const exact: string[] = [];
  const warnings: string[] = [];
  const lint: EntityLint = { mode: 'error', warn: (message) => void warnings.push(message) };
  for (const source of sources) {
    if (!attached.includes(source)) attachSnowflakes(dataSource, source, lint).detach();
    const { generated } = findColumns(dataSource, source);
    if (await lookAtColumns(dataSource, source, lint)) exact.push(...generated.map(({ place }) => place));
  }
  return { exact, warnings };
}

/** The services that columns name, and that are not attached. */
function missingServices(dataSource: DataSource, attached: readonly SnowflakeSource[]): string[] {
  return [...servicesOf(dataSource)].filter((name) => !attached.some((each) => each.name === name));
}

/** Issues nothing: it is attached for the lint, and detached at once. */
function standIn(name: string, layout: Layout | undefined): SnowflakeSource {
  const issue = (): never => {
    throw new SnowflakeNotAssignedError(name, 'a column', 'unattached');
  };
  return { name, layout, nextId: issue, nextIdAsync: issue };
}
