import type { LoggerService } from '@nestjs/common';
import { SnowflakeGenerator } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../snowflake.options.js';
import { systemPorts } from '../system/system-ports.js';
import type { AppDataSource } from '../typeorm/application-database.js';
import type { MakeCustom } from '../worker-id/make-assigner.js';
import { openWorker } from '../worker-id/open-worker.js';
import { logContext, logLease } from './lease-log.js';
import { SnowflakeEngine } from './snowflake-engine.js';
import type { Worker } from './worker.js';

/**
 * A generator with a worker id that it may issue with.
 * @throws what keeps it from getting one
 */
export async function openSnowflakeEngine(
  name: string,
  options: ResolvedSnowflakeOptions,
  dataSource: AppDataSource | undefined,
  logger: LoggerService,
  makeCustom: MakeCustom,
): Promise<SnowflakeEngine> {
  const ports = systemPorts(options.clock);
  const worker = await openWorker({ options, ports, dataSource, makeCustom, onEvent: logLease(logger, name) });
  const generator = new SnowflakeGenerator(
    { layout: options.layout.layout, tenure: worker.tenure, options: options.generator },
    ports,
  );
  await worker.start(generator);
  for (const message of warningsOf(options, worker, dataSource)) logger.warn(message, logContext(name));
  return new SnowflakeEngine(generator, worker);
}

/** What works, and should be looked at before it is relied on. */
function warningsOf(options: ResolvedSnowflakeOptions, worker: Worker, dataSource?: AppDataSource): string[] {
  const warnings = options.layout.warnings.map(({ message }) => message);
  const { assigner, guarantee, tenure } = worker;
  if (guarantee === 'declared') {
    warnings.push(`worker ${tenure.workerId} was given by hand (${assigner}): nothing checks that it is the only one`);
  } else if (assigner === 'database' && options.dbConfig === undefined && dataSource?.options.dropSchema === true) {
    warnings.push(
      `dropSchema: true drops the worker table at every start, and with it the memory of what was issued: IDs repeat ` +
        `while another process runs, or after a quick restart. Give dbConfig another database`,
    );
  }
  return warnings;
}
