import type { LoggerService } from '@nestjs/common';
import { SnowflakeGenerator, type LeasePorts } from '@raindrop/core';
import type { ResolvedSnowflakeOptions } from '../snowflake.options.js';
import { systemPorts } from '../system/system-ports.js';
import type { AppDataSource } from '../typeorm/application-database.js';
import { openWorkerStore } from '../typeorm/open-worker-store.js';
import { logContext, logLease } from './lease-log.js';
import { LeasedWorker } from './leased-worker.js';
import { SnowflakeEngine } from './snowflake-engine.js';
import { StaticWorker } from './static-worker.js';
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
): Promise<SnowflakeEngine> {
  const ports = systemPorts(options.clock);
  const worker = openWorker(options, ports, dataSource);
  const generator = new SnowflakeGenerator(
    { layout: options.layout.layout, tenure: worker.tenure, options: options.generator },
    ports,
  );
  worker.onEvent(logLease(logger, name));
  await worker.start(generator);
  for (const message of warningsOf(options, dataSource)) logger.warn(message, logContext(name));
  return new SnowflakeEngine(generator, worker);
}

function openWorker(options: ResolvedSnowflakeOptions, ports: LeasePorts, dataSource?: AppDataSource): Worker {
  if (options.staticWorkerId !== undefined) return new StaticWorker(options.staticWorkerId, options.layout.firstLane);
  return new LeasedWorker(
    options,
    openWorkerStore(options, dataSource, () => ports.clock.refresh()),
    ports,
  );
}

/** What works, and should be looked at before it is relied on. */
function warningsOf(options: ResolvedSnowflakeOptions, dataSource?: AppDataSource): string[] {
  const warnings = options.layout.warnings.map(({ message }) => message);
  if (options.staticWorkerId !== undefined) {
    warnings.push(
      `worker ${options.staticWorkerId} was given by hand: nothing checks that it is the only one, nor that the clock ` +
        `is past the IDs of the last run`,
    );
  } else if (options.dbConfig === undefined && dataSource?.options.dropSchema === true) {
    warnings.push(
      `dropSchema: true drops the worker table at every start, and with it the memory of what was issued: IDs repeat ` +
        `while another process runs, or after a quick restart. Give dbConfig another database`,
    );
  }
  return warnings;
}
