import { Logger, type FactoryProvider, type InjectionToken, type LoggerService, type Provider } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { getDataSourceToken } from '@nestjs/typeorm';
import { ConfigurationError, SnowflakeGenerator, type ConfigurationProblem, type LeasePorts } from '@raindrop/core';
import { IdService } from './id.service.js';
import { LeasedWorker } from './lease/leased-worker.js';
import { logContext, logLease } from './lease/lease-log.js';
import { ShutdownHooksCheck } from './lease/shutdown-hooks-check.js';
import { SnowflakeEngine } from './lease/snowflake-engine.js';
import { StaticWorker } from './lease/static-worker.js';
import type { Worker } from './lease/worker.js';
import {
  resolveRaindropOptions,
  type RaindropModuleExtras,
  type RaindropModuleOptions,
  type ResolvedRaindropOptions,
} from './raindrop.options.js';
import { refuseSecondImport } from './options/refuse-second-import.js';
import { DEFAULT_SERVICE, getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';
import { systemPorts } from './system/system-ports.js';
import { openWorkerStore, type AppDataSource } from './typeorm/open-worker-store.js';

/** What the options come to, inside the module. */
const RESOLVED_OPTIONS = Symbol('RAINDROP_RESOLVED_OPTIONS');

/**
 * The module's providers: the service, which takes the whole way from options to a worker id.
 * @throws ConfigurationError for a name or a list of DataSources that cannot be
 */
export function createRaindropProviders({ name = DEFAULT_SERVICE, dataSource }: RaindropModuleExtras): Provider[] {
  checkExtras(name, dataSource);
  // Optional: the one without a name is not always needed, and the error for a missing one with a name is ours.
  const dataSources: FactoryProvider['inject'] = [dataSource]
    .flat()
    .map((each) => ({ token: getDataSourceToken(each) as InjectionToken, optional: true }));
  return [
    {
      provide: RESOLVED_OPTIONS,
      inject: [RAINDROP_OPTIONS, ModulesContainer],
      useFactory: (raw: RaindropModuleOptions, modules: ModulesContainer) => {
        refuseSecondImport(modules, name);
        return resolveRaindropOptions(raw, Date.now());
      },
    },
    {
      provide: getIdServiceToken(name),
      inject: [RESOLVED_OPTIONS, ...dataSources],
      useFactory: (options: ResolvedRaindropOptions, ...found: (AppDataSource | undefined)[]) => {
        if (dataSource !== undefined) refuseMissing([dataSource].flat(), found);
        const present = found.filter((each) => each !== undefined);
        return openIdService(name, options, present);
      },
    },
    {
      provide: ShutdownHooksCheck,
      inject: [RESOLVED_OPTIONS, getIdServiceToken(name)],
      useFactory: (options: ResolvedRaindropOptions, service: IdService) => createShutdownHooksCheck(options, service),
    },
  ];
}

function createShutdownHooksCheck(options: ResolvedRaindropOptions, service: IdService): ShutdownHooksCheck {
  const { checkShutdownHooks, staticWorkerId, clock } = options;
  const isNeeded = checkShutdownHooks && staticWorkerId === undefined;
  const warn = (message: string): void => {
    // Closed already, by an application that did not start.
    if (service.status().state !== 'closed') loggerOf(options).warn(message, logContext(service.name));
  };
  return new ShutdownHooksCheck(systemPorts(clock).timers, isNeeded ? warn : undefined);
}

function loggerOf({ logger }: ResolvedRaindropOptions): LoggerService {
  return logger ?? new Logger();
}

function refuseMissing(names: readonly string[], found: readonly (AppDataSource | undefined)[]): void {
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length === 0) return;
  const problem = (each: string): ConfigurationProblem => ({
    option: 'dataSource',
    given: JSON.stringify(each),
    message: `names no TypeORM DataSource: import TypeOrmModule.forRoot({ name: '${each}', ... }), or correct the name`,
  });
  throw new ConfigurationError(missing.map(problem));
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
  options: ResolvedRaindropOptions,
  dataSources: readonly AppDataSource[],
): Promise<IdService> {
  const logger = loggerOf(options);
  const ports = systemPorts(options.clock);
  const worker = openWorker(options, ports, dataSources[0]);
  const generator = new SnowflakeGenerator(
    { layout: options.layout.layout, tenure: worker.tenure, options: options.generator },
    ports,
  );
  worker.onEvent(logLease(logger, name));
  await worker.start(generator);
  const service = new IdService(name, new SnowflakeEngine(generator, worker), {
    mode: options.lint,
    warn: (message) => void logger.warn(message, logContext(name)),
  });
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
