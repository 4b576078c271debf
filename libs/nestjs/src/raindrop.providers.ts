import { Logger, type FactoryProvider, type InjectionToken, type Provider } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { ConfigurationError, SnowflakeGenerator, type ConfigurationProblem, type LeasePorts } from '@raindrop/core';
import { IdService } from './id.service.js';
import { LeasedWorker } from './lease/leased-worker.js';
import { logContext, logLease } from './lease/lease-log.js';
import { StaticWorker } from './lease/static-worker.js';
import type { Worker } from './lease/worker.js';
import {
  resolveRaindropOptions,
  type RaindropModuleExtras,
  type RaindropModuleOptions,
  type ResolvedRaindropOptions,
} from './raindrop.options.js';
import { DEFAULT_SERVICE, getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';
import { systemPorts } from './system/system-ports.js';
import { openWorkerStore, type AppDataSource } from './typeorm/open-worker-store.js';

/**
 * The module's providers: the service, which takes the whole way from options to a worker id.
 * @throws ConfigurationError for a name or a list of DataSources that cannot be
 */
export function createRaindropProviders({ name = DEFAULT_SERVICE, dataSource }: RaindropModuleExtras): Provider[] {
  checkExtras(name, dataSource);
  // The DataSource without a name may be missing (an app with dbConfig, or with a static worker); a named one may not.
  const dataSources: FactoryProvider['inject'] =
    dataSource === undefined
      ? [{ token: getDataSourceToken() as InjectionToken, optional: true }]
      : [dataSource].flat().map((each) => getDataSourceToken(each) as InjectionToken);
  return [
    {
      provide: getIdServiceToken(name),
      inject: [RAINDROP_OPTIONS, ...dataSources],
      useFactory: (raw: RaindropModuleOptions, ...found: (AppDataSource | undefined)[]) =>
        openIdService(
          name,
          raw,
          found.filter((each) => each !== undefined),
        ),
    },
  ];
}

function checkExtras(name: unknown, dataSource: RaindropModuleExtras['dataSource']): void {
  const problems: ConfigurationProblem[] = [];
  if (typeof name !== 'string' || name.length < 1 || name.length > 128) {
    problems.push({
      option: 'name',
      given: JSON.stringify(name).slice(0, 60),
      message: 'must be a text of 1 to 128 characters',
    });
  }
  if (Array.isArray(dataSource) && dataSource.length === 0) {
    problems.push({ option: 'dataSource', given: '[]', message: 'must name at least one DataSource, or be left out' });
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

async function openIdService(
  name: string,
  raw: RaindropModuleOptions,
  dataSources: readonly AppDataSource[],
): Promise<IdService> {
  const options = resolveRaindropOptions(raw, Date.now());
  const logger = options.logger ?? new Logger();
  const ports = systemPorts(options.clock);
  const worker = openWorker(options, ports, dataSources[0]);
  const generator = new SnowflakeGenerator(
    { layout: options.layout.layout, tenure: worker.tenure, options: options.generator },
    ports,
  );
  worker.onEvent(logLease(logger, name));
  await worker.start(generator);
  const service = new IdService(name, generator, worker);
  try {
    for (const message of warningsOf(options, dataSources[0])) logger.warn(message, logContext(name));
    for (const each of dataSources) service.attach(each);
    return service;
  } catch (error) {
    // Nest calls no hooks of an application that does not start.
    await service.onApplicationShutdown();
    throw error;
  }
}

/** What works, and should be looked at before it is relied on. */
function warningsOf(options: ResolvedRaindropOptions, dataSource?: AppDataSource): string[] {
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

function openWorker(options: ResolvedRaindropOptions, ports: LeasePorts, dataSource?: AppDataSource): Worker {
  if (options.staticWorkerId !== undefined) return new StaticWorker(options.staticWorkerId, options.layout.firstLane);
  return new LeasedWorker(
    options,
    openWorkerStore(options, dataSource, () => ports.clock.refresh()),
    ports,
  );
}
