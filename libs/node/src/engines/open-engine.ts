import type { SqlDatabase } from '../database/sql-database.js';
import type { ResolvedServiceOptions } from '../options/service-options.js';
import type { IdEngine } from '../ports/id-engine.js';
import { logContext, type Logger } from '../ports/logger.js';
import { systemPorts } from '../system/system-ports.js';
import type { MakeCustom } from '../workers/make-assigner.js';
import { openSegmentEngine } from './open-segment-engine.js';
import { openSnowflakeEngine } from './open-snowflake-engine.js';

/** What an engine is opened with, besides the options. */
export interface EngineSurroundings {
  /** The service's. */
  readonly name: string;
  /** The application's, where the options name none. */
  readonly database: SqlDatabase | undefined;
  readonly logger: Logger;
  readonly makeCustom: MakeCustom;
}

/**
 * What stands behind a service, ready to issue.
 * @throws what keeps it from being so; nothing stays open then
 */
export async function openEngine(
  options: ResolvedServiceOptions,
  { name, database, logger, makeCustom }: EngineSurroundings,
): Promise<IdEngine> {
  const warn = (message: string): void => void logger.warn(message, logContext(name));
  if (usesDatabase(options)) (options.dbConfig ?? database)?.warnings().forEach(warn);
  if (options.idMode === 'numberSection') return openSegmentEngine(options, database, systemPorts('exact'), warn);
  const { idSource, sourceLayout, generator } = options;
  if (idSource !== undefined) return idSource.open({ name, layout: sourceLayout, generator });
  return openSnowflakeEngine(name, options, database, logger, makeCustom);
}

function usesDatabase(options: ResolvedServiceOptions): boolean {
  if (options.idMode === 'numberSection') return true;
  if (options.idSource !== undefined) return false;
  return options.assigner.parts.some(({ use }) => use === 'database' || use === 'disposable');
}
