import { Logger, type FactoryProvider, type Provider, type Type } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { ConfigurationError, type ConfigurationProblem, type Layout, type WorkerIdAssigner } from '@raindrop/core';
import { hasDataSourceOfAnotherCopy, ShutdownHooksCheck, UnnamedDataSourcesCheck } from './start-checks.js';
import type { Logger as ServiceLogger } from '@raindrop/node';
import {
  DEFAULT_SERVICE,
  givesNothingBack,
  guardedLogger,
  logContext,
  openEngine,
  systemPorts,
} from '@raindrop/node/internal';
import { wallClock } from '@raindrop/core/internal';
import { IdService } from '../id.service.js';
import {
  resolveRaindropOptions,
  type RaindropModuleExtras,
  type RaindropModuleOptions,
  type ResolvedRaindropOptions,
} from '../raindrop.options.js';
import { refuseSecondImport } from './services-of-copies.js';
import { getIdServiceToken, RAINDROP_OPTIONS } from './raindrop.tokens.js';
import type { AppDataSource, ColumnLint } from '../orm/app-data-source.js';
import { asDataSource, dataSourceToken, typeormBridge } from '../orm/typeorm-bridge.js';

/** The token of the checked options, inside the module. */
const RESOLVED_OPTIONS = Symbol('RAINDROP_RESOLVED_OPTIONS');

/**
 * Makes the module's providers: the checked options, the service, and the checks that run at the start.
 * @throws ConfigurationError when the name or the list of DataSources is not legal
 */
export function createRaindropProviders({ name = DEFAULT_SERVICE, dataSource }: RaindropModuleExtras): Provider[] {
  checkExtras(name, dataSource);
  // All are optional for Nest: the DataSource without a name may be missing, and refuseMissing() names the others.
  const dataSources: FactoryProvider['inject'] = [dataSource]
    .flat()
    .flatMap((each) => dataSourceToken(each) ?? [])
    .map((token) => ({ token, optional: true }));
  return [
    {
      provide: RESOLVED_OPTIONS,
      inject: [RAINDROP_OPTIONS, ModulesContainer],
      useFactory: (raw: RaindropModuleOptions, modules: ModulesContainer) => {
        refuseSecondImport(modules, name);
        return resolveRaindropOptions(raw, wallClock.now());
      },
    },
    {
      provide: getIdServiceToken(name),
      inject: [RESOLVED_OPTIONS, ModuleRef, ...dataSources],
      useFactory: (options: ResolvedRaindropOptions, nest: ModuleRef, ...found: (AppDataSource | undefined)[]) => {
        if (dataSource !== undefined) refuseMissing([dataSource].flat(), found);
        const present = found.filter((each) => each !== undefined);
        if (present.length === 0 && options.dbConfig === undefined)
          refuseSecondCopy(nest.get(ModulesContainer, { strict: false }));
        return openService(name, options, present, nest);
      },
    },
    {
      provide: UnnamedDataSourcesCheck,
      inject: [RESOLVED_OPTIONS, ModulesContainer, getIdServiceToken(name)],
      useFactory: (options: ResolvedRaindropOptions, modules: ModulesContainer, service: IdService) =>
        new UnnamedDataSourcesCheck(modules, service, lintOf(options, name)),
    },
    {
      provide: ShutdownHooksCheck,
      inject: [RESOLVED_OPTIONS, getIdServiceToken(name)],
      useFactory: (options: ResolvedRaindropOptions, service: IdService) => createShutdownHooksCheck(options, service),
    },
  ];
}

function createShutdownHooksCheck(options: ResolvedRaindropOptions, service: IdService): ShutdownHooksCheck {
  const holdsNothing =
    options.idMode === 'snowflake' && (options.idSource !== undefined || givesNothingBack(options.assigner));
  const isNeeded = options.checkShutdownHooks && !holdsNothing;
  const warn = (message: string): void => {
    // An application that did not start has closed the service already.
    if (service.status().state !== 'closed') loggerOf(options).warn(message, logContext(service.name));
  };
  return new ShutdownHooksCheck(systemPorts('exact').timers, isNeeded ? warn : undefined);
}

function loggerOf({ logger }: ResolvedRaindropOptions): ServiceLogger {
  return guardedLogger(logger ?? new Logger());
}

/** Which problems of entities stop a start, and where the others are logged. */
function lintOf(options: ResolvedRaindropOptions, name: string): ColumnLint {
  return { mode: options.lint, warn: (message) => void loggerOf(options).warn(message, logContext(name)) };
}

function refuseSecondCopy(modules: ModulesContainer): void {
  if (!hasDataSourceOfAnotherCopy(modules)) return;
  const message =
    "is required: the application's DataSource comes from another copy of typeorm (or @nestjs/typeorm) than " +
    'RaindropModule uses, so no entity could get an ID. npm ls typeorm @nestjs/typeorm shows both; keep one (npm ' +
    'dedupe, one version in all workspaces)';
  throw new ConfigurationError([{ option: 'dbConfig', given: 'undefined', message }]);
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
      message: 'must be a string of 1 to 128 characters',
    });
  }
  if (Array.isArray(dataSource) && dataSource.length === 0) {
    problems.push({ option: 'dataSource', given: '[]', message: 'must name at least one DataSource, or be omitted' });
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
}

async function openService(
  name: string,
  options: ResolvedRaindropOptions,
  dataSources: readonly AppDataSource[],
  nest: ModuleRef,
): Promise<IdService> {
  const [first] = dataSources;
  const lint = lintOf(options, name);
  // With manualInitialization: true the application initialises it later, and attaches it then: docs/typeorm.md.
  const initialized = dataSources.filter((each) => each.isInitialized);
  const lookAt = async (layout: Layout | undefined): Promise<void> => {
    await Promise.all(
      initialized.map((each) => typeormBridge().lookAtColumns(asDataSource(each), { name, layout }, lint)),
    );
  };
  let isLookedAt = false;
  const engine = await openEngine(options, {
    name,
    database: first && typeormBridge().dataSourceDatabase(asDataSource(first).options),
    logger: loggerOf(options),
    makeCustom: (assigner) => nest.create(assigner as Type<WorkerIdAssigner>),
    // Once it has a worker id, its table remembers the layout.
    onLayout: async (layout) => {
      for (const each of initialized) typeormBridge().refuseColumns(asDataSource(each), { name, layout }, lint);
      await lookAt(layout);
      isLookedAt = true;
    },
  });
  const service = new IdService(name, engine, lint);
  try {
    for (const each of initialized) service.attach(each);
    if (!isLookedAt) await lookAt(engine.layout);
    return service;
  } catch (error) {
    // Nest calls no hooks of an application that does not start.
    await service.close();
    throw error;
  }
}
