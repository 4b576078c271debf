import { SnowflakeGenerator } from '@raindrop/core/internal';
import type { ResolvedSnowflakeOptions } from '../options/snowflake-options.js';
import { systemPorts } from '../system/system-ports.js';
import type { SqlDatabase } from '../database/sql-database.js';
import { logContext, type Logger } from '../ports/logger.js';
import type { MakeCustom } from '../workers/make-assigner.js';
import { openWorker } from '../workers/open-worker.js';
import { logLease } from './lease-log.js';
import { SnowflakeEngine } from './snowflake-engine.js';
import type { Worker } from '../ports/worker.js';

/**
 * A generator with a worker id that it may issue with.
 * @throws what keeps it from getting one
 */
export async function openSnowflakeEngine(
  name: string,
  options: ResolvedSnowflakeOptions,
  database: SqlDatabase | undefined,
  logger: Logger,
  makeCustom: MakeCustom,
): Promise<SnowflakeEngine> {
  const ports = systemPorts(options.clock);
  const worker = await openWorker({ options, ports, database, makeCustom, onEvent: logLease(logger, name) });
  const generator = new SnowflakeGenerator(
    { layout: options.layout.layout, tenure: worker.tenure, options: options.generator },
    ports,
  );
  await worker.start(generator);
  for (const message of warningsOf(options, worker)) logger.warn(message, logContext(name));
  return new SnowflakeEngine(generator, worker);
}

/** What works, and should be looked at before it is relied on. */
function warningsOf(options: ResolvedSnowflakeOptions, worker: Worker): string[] {
  const warnings = options.layout.warnings.map(({ message }) => message);
  const { assigner, guarantee, tenure } = worker;
  if (guarantee === 'declared') {
    warnings.push(`worker ${tenure.workerId} was given by hand (${assigner}): nothing checks that it is the only one`);
  }
  return warnings;
}
