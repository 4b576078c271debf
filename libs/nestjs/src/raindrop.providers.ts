import { Logger, type FactoryProvider, type InjectionToken, type Provider } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { SnowflakeGenerator, type LeasePorts } from '@raindrop/core';
import { IdService } from './id.service.js';
import { LeasedWorker } from './lease/leased-worker.js';
import { logLease } from './lease/lease-log.js';
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

/** The module's providers: the service, which takes the whole way from options to a worker id. */
export function createRaindropProviders({ name = DEFAULT_SERVICE, dataSource }: RaindropModuleExtras): Provider[] {
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
  for (const { message } of options.layout.warnings) logger.warn(message, 'Raindrop');
  const service = new IdService(name, generator, worker);
  for (const each of dataSources) service.attach(each);
  return service;
}

function openWorker(options: ResolvedRaindropOptions, ports: LeasePorts, dataSource?: AppDataSource): Worker {
  if (options.staticWorkerId !== undefined) return new StaticWorker(options.staticWorkerId, options.layout.firstLane);
  return new LeasedWorker(
    options,
    openWorkerStore(options, dataSource, () => ports.clock.refresh()),
    ports,
  );
}
